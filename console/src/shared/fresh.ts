/** Random enough for a key, and there on plain http too (crypto.randomUUID is not). */
export function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
