"""The users' programs of the benchmarks, in C where there is a compiler: they must not be what is measured.

`stamp [FILE]` prints the monotonic clock in nanoseconds (and appends it to FILE); `lines N` writes N lines of 100
bytes, then how many nanoseconds that took; `beat N MS` prints the clock N times, MS milliseconds apart.
"""

import os
import shutil
import subprocess
import sys
from typing import Final

_HEAD: Final = (
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <fcntl.h>\n"
    "#include <unistd.h>\n"
)
_NOW: Final = (
    "static long long now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);"
    "return t.tv_sec*1000000000LL+t.tv_nsec;}\n"
)
_C: Final = {
    "stamp": """int main(int c,char**v){char b[64];int n=snprintf(b,64,"%lld\\n",now());
if(c>1){int f=open(v[1],O_WRONLY|O_CREAT|O_APPEND,0644);if(f>=0){if(write(f,b,n)<0)return 2;close(f);}}
return write(1,b,n)!=n;}""",
    "lines": """int main(int c,char**v){long n=atol(v[1]);char b[101];long long t=now();
for(long i=0;i<n;i++){memset(b,'x',99);int k=snprintf(b,16,"%09ld ",i);b[k]='x';b[99]='\\n';fwrite(b,1,100,stdout);}
fflush(stdout);printf("%lld\\n",now()-t);return fflush(stdout)!=0;}""",
    "beat": """int main(int c,char**v){long n=atol(v[1]);struct timespec p={0,atol(v[2])*1000000L};
for(long i=0;i<n;i++){char b[64];int k=snprintf(b,64,"%lld\\n",now());if(write(1,b,k)<0)return 1;nanosleep(&p,0);}
return 0;}""",
}
_PYTHON: Final = {
    "stamp": (
        "import sys,time\nt='%d\\n'%time.monotonic_ns()\nlen(sys.argv)>1 and open(sys.argv[1],'a').write(t)\n"
        "print(t,end='')\n"
    ),
    "lines": (
        "import sys,time\nt=time.monotonic_ns()\n"
        "for i in range(int(sys.argv[1])): sys.stdout.write('%09d '%i+'x'*89+'\\n')\n"
        "sys.stdout.flush()\nprint(time.monotonic_ns()-t)\n"
    ),
    "beat": (
        "import sys,time\nfor i in range(int(sys.argv[1])): print(time.monotonic_ns(),flush=True); "
        "time.sleep(int(sys.argv[2])/1e3)\n"
    ),
}


def compiled() -> bool:
    """Return whether the programs are C; written in Python they cost every peer the start of an interpreter."""
    return shutil.which("gcc") is not None


def build(folder: str) -> dict[str, str]:
    """Write and compile the programs into `folder`; return their paths by name."""
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    found = {}
    for name in _C:
        path = found[name] = os.path.join(folder, name)
        if compiled():
            with open(path + ".c", "w", encoding="ascii") as file:
                file.write(_HEAD + _NOW + _C[name])
            subprocess.run(["gcc", "-O2", "-o", path, path + ".c"], check=True)
        else:
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!{sys.executable} -IS\n" + _PYTHON[name])
            os.chmod(path, 0o755)
    return found
