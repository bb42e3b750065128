/** Settings: account, tokens, looks. */
export const settings = {
  settings: {
    title: "Settings",
    tokens: "API tokens",
    tokensHint:
      "For scripts and the SDK. Send it in the header Authorization: Bearer TOKEN. A token may do all that you may do.",
    tokenName: "Purpose",
    tokenExpires: "Valid for",
    tokenCreate: "Create token",
    tokenOnce: "Copy the token now. It is not shown again.",
    tokenNone: "No tokens yet",
    tokenDelete: "Revoke this token?",
    tokenDeleteHint: "Programs that use it are refused at once.",
    revoke: "Revoke",
    created: "Created",
    expires: "Expires",
    forever: "No expiry",
    days: "{{count}} days",
    days_one: "{{count}} day",
    about: "About",
    version: "Version",
    server: "Server",
    sandbox: "Sandbox",
    looks: "Appearance and language",
    needName: "Enter what the token is for.",
    signedInAs: "Signed in as {{name}} ({{role}})",
  },
} as const;
