// A certified OpenID provider for tests: any name can sign in; what its people are called and which groups they are in
// is read from a file each time, so that a test can change it. Ends with its standard input.
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const { PORT, PEOPLE, SECRET, REDIRECTS } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "trainmaster",
      client_secret: SECRET,
      redirect_uris: REDIRECTS.split(" "),
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  pkce: { required: () => true },
  cookies: { keys: ["of the tests"] },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, ...(JSON.parse(readFileSync(PEOPLE, "utf8"))[id] ?? {}) }),
  }),
});
provider.listen(Number(PORT), "127.0.0.1", () => console.log(`ready at ${issuer}`));
process.stdin.on("end", () => process.exit()).resume();
