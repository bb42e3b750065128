/** A version of an image: what it is, its packages, what it was made of, and the jobs that have the image. */
import { SearchOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Input } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ImageDetail, ImagePackage } from "../../api/types";
import { bytes, number } from "../../shared/format";
import { LineagePanel } from "../../shared/lineage";
import { useFrameworkTitle } from "../../shared/meta";
import { placeOf } from "../../shared/passing/place";
import { useSession } from "../../shared/session";
import { DataTable } from "../../shared/table";
import { Ago } from "../../shared/time";
import { CopyButton, Facts, Mono } from "../../shared/ui";
import type { Card } from "./cards";
import { UseImage } from "./use";

const PAGE = 50;
/** So many packages are looked through without a search. */
const FEW = 10;

export function Version({ image, remove }: { image: ImageDetail; remove: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const title = useFrameworkTitle();
  const place = placeOf(image, useSession()?.user);
  const version = image.versions.find((one) => one.version === image.shown) ?? image.versions[0];
  if (!version) return null;
  const facts: [string, ReactNode][] = [
    [t("images.made"), <Ago key="m" at={version.at} />],
    [t("images.by"), version.by || "–"],
    [t("images.size"), bytes(version.size_bytes)],
    ...(version.container
      ? ([
          [
            t("images.container"),
            <Mono key="c" copy={version.container}>
              {version.container}
            </Mono>,
          ],
        ] as [string, ReactNode][])
      : ([
          [t("images.python"), version.python],
          [t("images.packagesNumber"), number(version.packages)],
        ] as [string, ReactNode][])),
    ...(version.base ? ([[t("images.base"), <Mono key="o">{version.base}</Mono>]] as [string, ReactNode][]) : []),
    ...(version.code
      ? ([
          [
            t("images.code"),
            <Mono key="u" copy={version.code}>
              {version.code.slice(0, 19)}…
            </Mono>,
          ],
        ] as [string, ReactNode][])
      : []),
    [t("images.for"), version.frameworks.map(title).join(t("mark.comma")) || t("images.anything")],
    [
      t("images.cards"),
      version.cards.map((one) => t(`images.card.${one as Card}`)).join(t("mark.comma")) || t("images.anything"),
    ],
    [
      t("images.reference"),
      <Mono key="r" copy={`image: ${version.reference}`}>
        image: {version.reference}
      </Mono>,
    ],
    [
      t("images.digest"),
      <Mono key="d" copy={version.digest}>
        {version.digest.slice(0, 19)}…
      </Mono>,
    ],
  ];
  return (
    <div className="tm-stack">
      <section className="tm-panel">
        <h2 className="tm-version-head">
          <span className="tm-grow">{t("images.version", { n: version.version })}</span>
          <UseImage image={`${place.name}@${version.version}`} workspace={place.workspace} />
          {remove}
        </h2>
        <div className="tm-panel-body">
          <Facts columns={3} items={facts} />
        </div>
      </section>
      {!version.container && <Packages key={version.version} of={image.installed} />}
      <LineagePanel kind="image" at={`${image.id}@${version.version}`} />
      <Uses of={image} />
      <MadeOf key={`of ${version.version}`} of={image} />
    </div>
  );
}

function Packages({ of }: { of: readonly ImagePackage[] }): ReactNode {
  const { t } = useTranslation();
  const [q, setQ] = useState("");
  const found = of.filter((one) => one.name.toLowerCase().includes(q.trim().toLowerCase()));
  return (
    <section className="tm-panel tm-table" data-testid="packages">
      <h2 className="tm-version-head">
        <span className="tm-grow">{t("images.packages")}</span>
        {of.length > FEW && (
          <Input
            allowClear
            size="small"
            prefix={<SearchOutlined />}
            value={q}
            onChange={(event) => setQ(event.target.value)}
            placeholder={t("images.searchPackages")}
            aria-label={t("images.searchPackages")}
            className="tm-search"
            data-testid="packages-search"
          />
        )}
      </h2>
      <DataTable<ImagePackage>
        rowKey="name"
        size="small"
        tableLayout="fixed"
        dataSource={found}
        pagination={found.length > PAGE ? { pageSize: PAGE, showSizeChanger: false } : false}
        locale={{ emptyText: <span className="tm-faint">{t("images.noPackages")}</span> }}
        columns={[
          { title: t("images.package"), key: "name", render: (_, one) => <Mono>{one.name}</Mono> },
          {
            title: t("images.packageVersion"),
            key: "version",
            render: (_, one) => <Mono>{one.version}</Mono>,
          },
        ]}
      />
    </section>
  );
}

function Uses({ of }: { of: ImageDetail }): ReactNode {
  const { t } = useTranslation();
  const more = of.jobs - of.used_by.length;
  return (
    <section className="tm-panel" data-testid="image-uses">
      <h2>{t("images.usedBy")}</h2>
      <div className="tm-panel-body">
        {of.jobs === 0 && <span className="tm-faint">{t("images.unused")}</span>}
        <ul className="tm-image-uses">
          {of.used_by.map((one) => (
            <li key={one.job}>
              <Link to="/jobs/$id" params={{ id: one.job }} search={{}} className="tm-name">
                {one.name}
              </Link>{" "}
              <span className="tm-faint">
                {one.owner} · {t("images.version", { n: one.version })}
              </span>
            </li>
          ))}
          {more > 0 && <li className="tm-faint">{t("images.usedMore", { count: more })}</li>}
        </ul>
      </div>
    </section>
  );
}

function MadeOf({ of }: { of: ImageDetail }): ReactNode {
  const { t } = useTranslation();
  const contained = of.versions.some((one) => one.version === of.shown && one.container);
  const files = contained
    ? of.files.map((file) => ({ ...file, name: t("images.asked") }))
    : [...of.files, { name: t("images.lock"), text: of.lock }];
  return (
    <section className="tm-panel">
      <h2>{t("images.madeOf")}</h2>
      <div className="tm-panel-body tm-image-files">
        {files.map(({ name, text }, at) => (
          <details key={name} open={at === 0}>
            <summary>{name}</summary>
            <div className="tm-image-copy">
              <CopyButton text={text} />
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by the keyboard, too. */}
            <pre className="tm-code" tabIndex={0}>
              {text}
            </pre>
          </details>
        ))}
      </div>
    </section>
  );
}
