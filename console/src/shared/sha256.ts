/** SHA-256 of bytes as they come (FIPS 180-4): browsers have none for streams, and none at all on plain HTTP. Pure. */

const K = new Uint32Array(64);
const START = new Uint32Array(8);

/** The first 32 bits of the fraction of `root`. */
const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);

let found = 0;
for (let n = 2; found < 64; n += 1) {
  let prime = true;
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) prime = false;
  if (!prime) continue;
  if (found < 8) START[found] = fraction(Math.sqrt(n));
  K[found] = fraction(Math.cbrt(n));
  found += 1;
}

const BLOCK = 64;

export class Sha256 {
  private readonly state = START.slice();
  private readonly words = new Uint32Array(64);
  private readonly rest = new Uint8Array(BLOCK);
  private held = 0;
  private size = 0;

  update(bytes: Uint8Array): this {
    this.size += bytes.length;
    let at = 0;
    if (this.held > 0) {
      at = Math.min(BLOCK - this.held, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.held);
      this.held += at;
      if (this.held < BLOCK) return this;
      this.block(this.rest, 0);
      this.held = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.block(bytes, at);
    this.rest.set(bytes.subarray(at));
    this.held = bytes.length - at;
    return this;
  }

  /** The digest in hex; nothing may come after it. */
  hex(): string {
    const bits = this.size * 8;
    const end = new Uint8Array(this.held < 56 ? BLOCK - this.held : 2 * BLOCK - this.held);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits % 2 ** 32);
    this.update(end);
    return [...this.state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  private block(bytes: Uint8Array, from: number): void {
    const { state, words: w } = this;
    for (let i = 0; i < 16; i += 1) {
      const at = from + 4 * i;
      w[i] =
        ((bytes[at] as number) << 24) |
        ((bytes[at + 1] as number) << 16) |
        ((bytes[at + 2] as number) << 8) |
        (bytes[at + 3] as number);
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15] as number;
      const y = w[i - 2] as number;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const one = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] as number) + (w[i] as number)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => {
      state[i] = (state[i] as number) + value;
    });
  }
}
