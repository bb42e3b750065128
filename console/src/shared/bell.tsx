/** The bell of the bar: how many notifications are not read, and the newest of them. Asks when the feed says so, never by itself. */
import { BellOutlined } from "@ant-design/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Badge, Button, Popover } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { listNotices } from "../api/notices";
import { useLanguage } from "../i18n";
import { NoticeTag } from "./notice";
import { Ago } from "./time";

const SHOWN = 6;

export function Bell(): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  const [open, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ["notices", "bell"],
    queryFn: ({ signal }) => listNotices({ unread: true }, null, signal, SHOWN),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const unread = query.data?.unread ?? 0;
  const list = (
    <div className="tm-bell" data-testid="bell-list">
      {unread === 0 && <p className="tm-faint tm-flat">{t("notices.allRead")}</p>}
      {query.data?.items.map((one) => (
        <div key={one.id} className="tm-bell-one">
          <div>
            <NoticeTag kind={one.kind} />{" "}
            <span className="tm-faint">
              <Ago at={one.at} />
            </span>
          </div>
          {one.job ? (
            <Link to="/jobs/$id" params={{ id: one.job }} search={{}} onClick={() => setOpen(false)}>
              {one.text[language]}
            </Link>
          ) : (
            <span>{one.text[language]}</span>
          )}
        </div>
      ))}
      <Link to="/notifications" search={{}} onClick={() => setOpen(false)} data-testid="bell-all">
        {t("notices.showAll")}
      </Link>
    </div>
  );
  return (
    <Popover content={list} trigger="click" placement="bottom" open={open} onOpenChange={setOpen} arrow={false}>
      <Badge count={unread} size="small" offset={[-6, 6]} overflowCount={99}>
        <Button
          type="text"
          icon={<BellOutlined />}
          aria-label={t("notices.bell", { count: unread })}
          data-testid="bell"
          data-unread={unread}
        />
      </Badge>
    </Popover>
  );
}
