/** Settings: account, tokens, looks. */
export const settings = {
  settings: {
    title: "Settings", tokens: "API tokens", tokensHint: "For scripts and the SDK: send it as “Authorization: Bearer …”. A token can do everything you can do.",
    tokenName: "What is it for?", tokenExpires: "Valid for", tokenCreate: "Create token", tokenOnce: "Copy the token now. It is shown only this once.",
    tokenNone: "No tokens", tokenDelete: "Revoke this token?", tokenDeleteHint: "Programs that use it are refused from now on.", revoke: "Revoke", created: "Created", expires: "Expires",
    forever: "No end", days: "{{count}} days", days_one: "{{count}} day", about: "About", version: "Version", server: "Server", sandbox: "Sandbox",
    looks: "Appearance and language", needName: "Give the token a name.", signedInAs: "Signed in as {{name}} ({{role}})",
  },
} as const;
