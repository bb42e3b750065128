/** Money: reports of use, balances of workspaces, credits and budgets. Amounts are decimal texts, exact. */
import { get, post, put, text } from "./client";
import type { Balance, Entry, EntryPage, UsageReport } from "./types";

const workspace = (name: string): string => `/workspaces/${encodeURIComponent(name)}`;

export interface ReportQuery {
  month?: string;
  workspace?: string;
}
export const readReport = (query: ReportQuery): Promise<UsageReport> => get("/reports/usage", { ...query });
export const readReportCsv = (query: ReportQuery): Promise<string> => text("/reports/usage.csv", { ...query });

export const listBalances = (): Promise<{ priced: boolean; items: Balance[] }> => get("/balances");
export const listEntries = (name: string, cursor?: string): Promise<EntryPage> =>
  get(`${workspace(name)}/entries`, { cursor });

export interface EntryBody {
  kind: "credit" | "correction";
  amount: string;
  note: string;
  /** The same again enters nothing. */
  key: string;
}
export const addEntry = (name: string, body: EntryBody): Promise<Entry> => post(`${workspace(name)}/entries`, body);

export interface BudgetBody {
  credit_limit: string | null;
  budget: string | null;
  alarms: number[];
}
export const saveBudget = (name: string, body: BudgetBody): Promise<Balance> => put(`${workspace(name)}/budget`, body);
