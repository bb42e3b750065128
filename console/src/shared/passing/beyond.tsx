/** A data set beyond its workspace: to whom it is offered and who subscribes, for who may share it; else where it was taken in. */
import { useQuery } from "@tanstack/react-query";
import { Select, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { offerDataset, withdrawDataset } from "../../api/datasets";
import type { DatasetDetail } from "../../api/types";
import { useAct } from "../../shared/act";
import { maySubmit } from "../../shared/people";
import { useSession } from "../../shared/session";
import { Unsubscribe } from "./published";

const EVERYBODY = "*";

export function Beyond({ of }: { of: DatasetDetail }): ReactNode {
  return (
    <>
      {of.taken.length > 0 && <Taken of={of} />}
      {of.may.includes("share") && <Offers of={of} />}
    </>
  );
}

function Offers({ of }: { of: DatasetDetail }): ReactNode {
  const { t } = useTranslation();
  const act = useAct(["dataset", "published"]);
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const name = (one: string): string => (one === EVERYBODY ? t("datasets.passing.everybody") : one);
  const left = [EVERYBODY, ...(spaces.data?.items ?? []).map((one) => one.name)].filter(
    (one) => one !== of.workspace && !of.offers.includes(one),
  );
  const offer = (workspace: string): void =>
    void act(async () => {
      await offerDataset(of.id, workspace);
      return t("datasets.passing.offered", { to: name(workspace) });
    });
  const withdraw = (workspace: string): void =>
    void act(async () => {
      await withdrawDataset(of.id, workspace);
      return t("datasets.passing.withdrawn", { to: name(workspace) });
    });
  return (
    <section className="tm-panel tm-beyond" data-testid="offers">
      <h2>{t("datasets.passing.title")}</h2>
      <div className="tm-panel-body">
        <p className="tm-faint">{t("datasets.passing.hint")}</p>
        <dl className="tm-beyond-facts">
          <dt>{t("datasets.passing.offeredTo")}</dt>
          <dd>
            {of.offers.map((one) => (
              <Tag
                key={one}
                closable={{ "aria-label": t("datasets.passing.withdraw", { to: name(one) }) }}
                onClose={(event) => {
                  event.preventDefault(); // it goes when the server says so
                  withdraw(one);
                }}
                data-testid={`offer-${one === EVERYBODY ? "everybody" : one}`}
              >
                {name(one)}
              </Tag>
            ))}
            <Select<string>
              size="small"
              value={null}
              placeholder={t(of.offers.length > 0 ? "datasets.passing.more" : "datasets.passing.choose")}
              onChange={offer}
              options={left.map((value) => ({ value, label: name(value) }))}
              popupMatchSelectWidth={false}
              disabled={left.length === 0}
              aria-label={t("datasets.passing.choose")}
              data-testid="offer-to"
            />
          </dd>
          <dt>{t("datasets.passing.subscribers")}</dt>
          <dd data-testid="subscribers">
            {of.subscribers.length === 0 ? (
              <span className="tm-faint">{t("datasets.passing.nobody")}</span>
            ) : (
              of.subscribers.map((one) => (
                <Tag key={one.workspace}>
                  {one.name === of.name
                    ? one.workspace
                    : t("datasets.passing.under", { workspace: one.workspace, name: one.name })}
                </Tag>
              ))
            )}
          </dd>
        </dl>
      </div>
    </section>
  );
}

function Taken({ of }: { of: DatasetDetail }): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  return (
    <section className="tm-panel tm-beyond" data-testid="taken">
      <h2>{t("datasets.passing.takenTitle")}</h2>
      <div className="tm-panel-body">
        {of.taken.map((one) => (
          <div key={one.workspace} className="tm-lapsed">
            <span className="tm-grow">
              {t("datasets.passing.takenIn", { workspace: one.workspace, name: one.name, from: of.workspace })}
            </span>
            {user && maySubmit(user, one.workspace) && <Unsubscribe workspace={one.workspace} name={one.name} />}
          </div>
        ))}
      </div>
    </section>
  );
}
