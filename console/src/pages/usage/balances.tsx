/** How the workspaces stand: balance, what is set aside, budget; and what changed a balance. Administrators enter credits and set budgets. */
import { useQueryClient } from "@tanstack/react-query";
import { Button, Form, Input, Segmented, Select, Tag } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { addEntry, type BudgetBody, type EntryBody, saveBudget } from "../../api/money";
import type { Balance, Entry } from "../../api/types";
import { useSession } from "../../shared/session";
import { Dialog } from "../admin/dialog";
import { AMOUNT, shownAmount, spentPercent } from "./amounts";
import { EntriesDrawer } from "./entries";

type Shown = { workspace: string; what: "entries" | "enter" | "budget" };

export function Balances({ balances, only }: { balances: Balance[] | undefined; only: string | undefined }): ReactNode {
  const { t } = useTranslation();
  const [shown, setShown] = useState<Shown | null>(null);
  const admin = useSession()?.user.role === "admin";
  const client = useQueryClient();
  const close = (): void => {
    setShown(null);
    for (const key of ["balances", "usage", "entries"]) void client.invalidateQueries({ queryKey: [key] });
  };
  const items = (balances ?? []).filter((one) => only === undefined || one.workspace === only);
  if (items.length === 0) return null;
  const chosen = items.find((one) => one.workspace === shown?.workspace);
  return (
    <section className="tm-purses" aria-label={t("usage.balances")}>
      {items.map((one) => (
        <Purse
          key={one.workspace}
          one={one}
          admin={admin}
          show={(what) => setShown({ workspace: one.workspace, what })}
        />
      ))}
      {chosen && shown?.what === "entries" && <EntriesDrawer balance={chosen} close={close} />}
      {chosen && shown?.what === "enter" && <EntryDialog balance={chosen} close={close} />}
      {chosen && shown?.what === "budget" && <BudgetDialog balance={chosen} close={close} />}
    </section>
  );
}

function Purse({ one, admin, show }: { one: Balance; admin: boolean; show: (what: Shown["what"]) => void }): ReactNode {
  const { t } = useTranslation();
  const part = one.budget === null ? null : spentPercent(one.spent, one.budget);
  return (
    <article className="tm-panel tm-purse" data-testid={`balance-${one.workspace}`} data-balance={one.balance}>
      <header>
        <b className="tm-break">{one.workspace}</b>
        {one.in_arrears && (
          <Tag className="tm-tag" color="red">
            {t("usage.inArrears")}
          </Tag>
        )}
        <span className="tm-grow" />
        <span className={one.in_arrears ? "tm-num tm-bad" : "tm-num"} title={one.balance}>
          <b>{shownAmount(one.balance)}</b> {one.currency}
        </span>
      </header>
      <dl>
        <dt>{t("usage.available")}</dt>
        <dd className="tm-num">{one.available === null ? t("usage.noLimit") : shownAmount(one.available)}</dd>
        <dt>{t("usage.running")}</dt>
        <dd className="tm-num">{shownAmount(one.running)}</dd>
        <dt title={t("usage.reservedHint")}>{t("usage.reserved")}</dt>
        <dd className="tm-num">{shownAmount(one.reserved)}</dd>
        <dt>{t("usage.spent", { month: one.month })}</dt>
        <dd className="tm-num">
          {shownAmount(one.spent)}
          {one.budget !== null && ` / ${shownAmount(one.budget)}`}
        </dd>
      </dl>
      {part !== null && (
        <div className="tm-demand-track" role="img" aria-label={t("usage.ofBudget", { percent: part })}>
          <i className={part >= 100 ? "tm-fill-red" : "tm-fill-violet"} style={{ width: `${Math.min(100, part)}%` }} />
        </div>
      )}
      {part !== null && (
        <p className={one.alarmed.length > 0 ? "tm-line tm-warn tm-flat" : "tm-line tm-flat"}>
          {t("usage.ofBudget", { percent: part })}
        </p>
      )}
      <footer>
        <Button size="small" onClick={() => show("entries")} data-testid={`entries-${one.workspace}`}>
          {t("usage.entries")}
        </Button>
        {admin && (
          <>
            <Button size="small" onClick={() => show("enter")} data-testid={`credit-${one.workspace}`}>
              {t("usage.enter")}
            </Button>
            <Button size="small" onClick={() => show("budget")} data-testid={`budget-${one.workspace}`}>
              {t("usage.budget")}
            </Button>
          </>
        )}
      </footer>
    </article>
  );
}

function EntryDialog({ balance, close }: { balance: Balance; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const [key] = useState(() => Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(16)).join(""));
  return (
    <Dialog<Omit<EntryBody, "key">, Entry>
      title={t("usage.enterFor", { workspace: balance.workspace })}
      initial={{ kind: "credit", amount: "", note: "" }}
      save={(body) => addEntry(balance.workspace, { ...body, note: body.note ?? "", key })}
      close={close}
    >
      <Form.Item name="kind">
        <Segmented
          block
          options={(["credit", "correction"] as const).map((value) => ({ value, label: t(`usage.kinds.${value}`) }))}
        />
      </Form.Item>
      <Form.Item
        name="amount"
        label={`${t("usage.change")}${t("mark.aside", { text: balance.currency })}`}
        extra={t("usage.amountHint")}
        rules={[{ required: true, pattern: AMOUNT, message: t("usage.amountBad") }]}
      >
        <Input autoFocus inputMode="decimal" placeholder="1000.00" data-testid="entry-amount" />
      </Form.Item>
      <Form.Item name="note" label={t("usage.note")} extra={t("usage.noteHint")}>
        <Input maxLength={500} data-testid="entry-note" />
      </Form.Item>
    </Dialog>
  );
}

type BudgetForm = { credit_limit: string; budget: string; alarms: string[] };

function BudgetDialog({ balance, close }: { balance: Balance; close: () => void }): ReactNode {
  const { t } = useTranslation();
  const amount = [{ pattern: AMOUNT, message: t("usage.amountBad") }];
  const bodyOf = (form: BudgetForm): BudgetBody => ({
    credit_limit: form.credit_limit?.trim() || null,
    budget: form.budget?.trim() || null,
    alarms: (form.alarms ?? []).map(Number),
  });
  return (
    <Dialog<BudgetForm, Balance>
      title={t("usage.budgetOf", { workspace: balance.workspace })}
      initial={{
        credit_limit: balance.credit_limit ?? "",
        budget: balance.budget ?? "",
        alarms: balance.alarms.map(String),
      }}
      save={(form) => saveBudget(balance.workspace, bodyOf(form))}
      close={close}
    >
      <Form.Item
        name="credit_limit"
        label={`${t("usage.creditLimit")}${t("mark.aside", { text: balance.currency })}`}
        extra={t("usage.creditLimitHint")}
        rules={amount}
      >
        <Input allowClear inputMode="decimal" placeholder={t("usage.noLimit")} data-testid="budget-limit" />
      </Form.Item>
      <Form.Item
        name="budget"
        label={`${t("usage.monthly")}${t("mark.aside", { text: balance.currency })}`}
        extra={t("usage.monthlyHint")}
        rules={amount}
      >
        <Input allowClear inputMode="decimal" placeholder={t("usage.noBudget")} data-testid="budget-monthly" />
      </Form.Item>
      <Form.Item
        name="alarms"
        label={t("usage.alarms")}
        rules={[
          {
            validator: (_, given: string[] | undefined) =>
              (given ?? []).every((one) => /^[0-9]{1,4}$/.test(one) && Number(one) >= 1 && Number(one) <= 1000)
                ? Promise.resolve()
                : Promise.reject(new Error(t("usage.alarmsBad"))),
          },
        ]}
      >
        <Select mode="tags" open={false} suffixIcon={null} maxCount={10} data-testid="budget-alarms" />
      </Form.Item>
    </Dialog>
  );
}
