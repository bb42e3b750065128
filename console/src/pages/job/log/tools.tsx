/** What goes through the log of a replica and takes it along: all in sight, or on a phone, where they took three lines, in one menu. */
import {
  CheckOutlined,
  DownloadOutlined,
  MoreOutlined,
  VerticalAlignBottomOutlined,
  VerticalAlignTopOutlined,
} from "@ant-design/icons";
import { Button, Dropdown, type MenuProps, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { allLogsUrl, logDownloadUrl, type TaskAddress } from "../../../api/watch";
import { useDownload } from "../../../shared/download";
import { useMedia } from "../../../theme";
import { GoToLine, LineLink, type Look, LookSwitches, PHONE } from "./bar";

interface Props {
  address: TaskAddress;
  /** The line that is chosen. */
  line: number | null;
  goTo: (line: number) => void;
  top: () => void;
  bottom: () => void;
  look: Look;
}

export function LogTools({ address, line, goTo, top, bottom, look }: Props): ReactNode {
  const { t } = useTranslation();
  const phone = useMedia(PHONE);
  const downloads = useDownloads(address);
  return (
    <div className="tm-log-tools">
      {line !== null && <LineLink address={address} line={line} />}
      <GoToLine goTo={goTo} />
      {phone ? (
        <PhoneMenu top={top} bottom={bottom} look={look} downloads={downloads} />
      ) : (
        <>
          <Tooltip title={t("job.log.top")}>
            <Button
              icon={<VerticalAlignTopOutlined />}
              aria-label={t("job.log.top")}
              onClick={top}
              data-testid="log-top"
            />
          </Tooltip>
          <Tooltip title={t("job.log.bottom")}>
            <Button
              icon={<VerticalAlignBottomOutlined />}
              aria-label={t("job.log.bottom")}
              onClick={bottom}
              data-testid="log-end"
            />
          </Tooltip>
          <LookSwitches look={look} />
          <Dropdown menu={{ items: downloads }} trigger={["click"]}>
            <Button icon={<DownloadOutlined />} aria-label={t("action.download")} data-testid="log-download-menu" />
          </Dropdown>
        </>
      )}
    </div>
  );
}

type Items = NonNullable<MenuProps["items"]>;

function useDownloads(address: TaskAddress): Items {
  const { t } = useTranslation();
  const download = useDownload();
  return [
    {
      key: "one",
      label: <span data-testid="log-download">{t("job.log.download")}</span>,
      onClick: () => download(logDownloadUrl(address)),
    },
    {
      key: "all",
      label: <span data-testid="logs-download">{t("job.log.downloadAll")}</span>,
      onClick: () => download(allLogsUrl(address.job)),
    },
  ];
}

function PhoneMenu(props: Pick<Props, "top" | "bottom" | "look"> & { downloads: Items }): ReactNode {
  const { top, bottom, look, downloads } = props;
  const { t } = useTranslation();
  const items: Items = [
    {
      key: "top",
      icon: <VerticalAlignTopOutlined />,
      label: <span data-testid="log-top">{t("job.log.top")}</span>,
      onClick: top,
    },
    {
      key: "bottom",
      icon: <VerticalAlignBottomOutlined />,
      label: <span data-testid="log-end">{t("job.log.bottom")}</span>,
      onClick: bottom,
    },
    { type: "divider" },
    ...(["times", "wrap"] as const).map((what) => ({
      key: what,
      icon: <CheckOutlined style={{ visibility: look[what] ? "visible" : "hidden" }} />,
      label: (
        <span data-testid={`log-${what}`} data-on={look[what]}>
          {t(`job.log.${what}`)}
        </span>
      ),
      onClick: () => look.set(what, !look[what]),
    })),
    { type: "divider" },
    { key: "download", type: "group", label: t("action.download"), children: downloads },
  ];
  return (
    <Dropdown menu={{ items }} trigger={["click"]} placement="bottomRight">
      <Button icon={<MoreOutlined />} aria-label={t("action.more")} data-testid="log-more" />
    </Dropdown>
  );
}
