/** The mark, and the two switches every page carries: language and looks. */
import { BulbOutlined, DesktopOutlined, MoonOutlined, TranslationOutlined } from "@ant-design/icons";
import { Button, Dropdown, Tooltip } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { setLanguage, useLanguage } from "../i18n";
import { type Look, useLook } from "../theme";

export function Logo({ size = 28 }: { size?: number }): ReactNode {
  return <img src="/favicon.svg" width={size} height={size} alt="" className="tm-logo" />;
}

export function LanguageSwitch(): ReactNode {
  const { t } = useTranslation();
  const language = useLanguage();
  return (
    <Tooltip title={t("language.switch")}>
      <Button
        type="text"
        icon={<TranslationOutlined />}
        data-testid="language"
        aria-label={t("language.switch")}
        onClick={() => setLanguage(language === "zh" ? "en" : "zh")}
      >
        {t("language.other")}
      </Button>
    </Tooltip>
  );
}

const LOOKS: [Look, ReactNode][] = [
  ["light", <BulbOutlined key="i" />],
  ["dark", <MoonOutlined key="i" />],
  ["system", <DesktopOutlined key="i" />],
];

export function LookSwitch(): ReactNode {
  const { t } = useTranslation();
  const { look, dark, setLook } = useLook();
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        selectable: true,
        selectedKeys: [look],
        items: LOOKS.map(([key, icon]) => ({
          key,
          icon,
          label: <span data-testid={`look-${key}`}>{t(`theme.${key}`)}</span>,
          onClick: () => setLook(key),
        })),
      }}
    >
      <Button
        type="text"
        icon={dark ? <MoonOutlined /> : <BulbOutlined />}
        data-testid="look"
        aria-label={t("theme.title")}
      />
    </Dropdown>
  );
}
