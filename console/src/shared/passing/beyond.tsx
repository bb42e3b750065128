/** Something beyond its workspace: to whom it is offered and who subscribes, for who may share it; else where it was taken in. */
import { useQuery } from "@tanstack/react-query";
import { Select, Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { listWorkspaces } from "../../api/cluster";
import { offerAsset, type PassedDetail, type PassedKind, withdrawAsset } from "../../api/passing";
import { useAct } from "../act";
import { maySubmit } from "../people";
import { useSession } from "../session";
import { touchedBy, Unsubscribe } from "./published";

const EVERYBODY = "*";

interface Props {
  kind: PassedKind;
  of: PassedDetail;
}

export function Beyond({ kind, of }: Props): ReactNode {
  return (
    <>
      {of.taken.length > 0 && <Taken kind={kind} of={of} />}
      {of.may.includes("share") && <Offers kind={kind} of={of} />}
    </>
  );
}

function Offers({ kind, of }: Props): ReactNode {
  const { t } = useTranslation();
  const act = useAct(touchedBy(kind));
  const spaces = useQuery({ queryKey: ["workspaces"], queryFn: listWorkspaces, staleTime: 30_000 });
  const name = (one: string): string => (one === EVERYBODY ? t("passing.everybody") : one);
  const left = [EVERYBODY, ...(spaces.data?.items ?? []).map((one) => one.name)].filter(
    (one) => one !== of.workspace && !of.offers.includes(one),
  );
  const offer = (workspace: string): void =>
    void act(async () => {
      await offerAsset(kind, of.id, workspace);
      return t("passing.offered", { to: name(workspace) });
    });
  const withdraw = (workspace: string): void =>
    void act(async () => {
      await withdrawAsset(kind, of.id, workspace);
      return t("passing.withdrawn", { to: name(workspace) });
    });
  return (
    <section className="tm-panel tm-beyond" data-testid="offers">
      <h2>{t("passing.title")}</h2>
      <div className="tm-panel-body">
        <p className="tm-faint">{t(`passing.hint.${kind}`)}</p>
        <dl className="tm-beyond-facts">
          <dt>{t("passing.offeredTo")}</dt>
          <dd>
            {of.offers.map((one) => (
              <Tag
                key={one}
                closable={{ "aria-label": t("passing.withdraw", { to: name(one) }) }}
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
              placeholder={t(of.offers.length > 0 ? "passing.more" : "passing.choose")}
              onChange={offer}
              options={left.map((value) => ({ value, label: name(value) }))}
              popupMatchSelectWidth={false}
              disabled={left.length === 0}
              aria-label={t("passing.choose")}
              data-testid="offer-to"
            />
          </dd>
          <dt>{t("passing.subscribers")}</dt>
          <dd data-testid="subscribers">
            {of.subscribers.length === 0 ? (
              <span className="tm-faint">{t("passing.nobody")}</span>
            ) : (
              of.subscribers.map((one) => (
                <Tag key={one.workspace}>
                  {one.name === of.name
                    ? one.workspace
                    : t("passing.under", { workspace: one.workspace, name: one.name })}
                </Tag>
              ))
            )}
          </dd>
        </dl>
      </div>
    </section>
  );
}

function Taken({ kind, of }: Props): ReactNode {
  const { t } = useTranslation();
  const user = useSession()?.user;
  return (
    <section className="tm-panel tm-beyond" data-testid="taken">
      <h2>{t("passing.takenTitle")}</h2>
      <div className="tm-panel-body">
        {of.taken.map((one) => (
          <div key={one.workspace} className="tm-lapsed">
            <span className="tm-grow">
              {t(`passing.takenIn.${kind}`, { workspace: one.workspace, name: one.name, from: of.workspace })}
            </span>
            {user && maySubmit(user, one.workspace) && (
              <Unsubscribe kind={kind} workspace={one.workspace} name={one.name} />
            )}
          </div>
        ))}
      </div>
    </section>
  );
}
