/** Amounts of money as decimal texts: added exactly, in millionths. Pure. */

const MILLION = 1_000_000n;

/** "12.5" -> 12500000n. */
export function millionths(text: string): bigint {
  const [whole = "0", part = ""] = text.replace("-", "").split(".");
  const amount = BigInt(whole) * MILLION + BigInt(part.padEnd(6, "0").slice(0, 6));
  return text.startsWith("-") ? -amount : amount;
}

/** 12500000n -> "12.50". */
export function amountText(amount: bigint): string {
  const size = amount < 0n ? -amount : amount;
  const digits = String(size % MILLION).padStart(6, "0");
  return `${amount < 0n ? "-" : ""}${size / MILLION}.${digits.slice(0, 2)}${digits.slice(2).replace(/0+$/, "")}`;
}

/** As it is shown: thousands set off, rounded to two digits, and with all where two would read as nothing: "1,234.50",
 * "-0.0004". The same rule as the server's. */
export function shownAmount(text: string): string {
  const exact = millionths(text);
  const size = exact < 0n ? -exact : exact;
  if (size > 0n && size < 10_000n) return amountText(exact);
  const cents = (size + 5000n) / 10_000n;
  const whole = (cents / 100n).toLocaleString("en-US");
  return `${exact < 0n ? "-" : ""}${whole}.${String(cents % 100n).padStart(2, "0")}`;
}

/** An amount that may be written: digits, if needed a point and up to six more. */
export const AMOUNT = /^-?[0-9]{1,12}(\.[0-9]{1,6})?$/;

/** Which part of a budget is spent, in percent, rounded down; of a budget of 0 all as soon as anything is. */
export function spentPercent(spent: string, budget: string): number {
  const [used, all] = [millionths(spent), millionths(budget)];
  if (used <= 0n) return 0;
  return all === 0n ? 100 : Number((used * 100n) / all);
}

/** The months that may be asked for, newest first: `month` (YYYY-MM) and those before it. */
export function monthsUpTo(month: string, count: number): string[] {
  const [year = 2026, of = 1] = month.split("-").map(Number);
  return Array.from({ length: count }, (_, back) => {
    const at = year * 12 + (of - 1) - back;
    return `${Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`;
  });
}
