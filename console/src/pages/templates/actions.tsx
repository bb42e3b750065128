/** What is done to templates: copied, shared, and deleted after a question that says what will happen. */
import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { useTranslation } from "react-i18next";
import { copyTemplate, deleteTemplate, deleteTemplates, shareTemplate } from "../../api/templates";
import type { JobShare, Template } from "../../api/types";
import { useBilingual } from "../../i18n";
import { useErrorText } from "../../shared/ui";

const SHOWN_AT_MOST = 8;

/** Runs `act`, says what became of it, and has the lists read again. */
function useAct(): (act: () => Promise<string>) => Promise<void> {
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  return async (act) => {
    try {
      message.success(await act());
    } catch (error) {
      message.error(errorText(error).line, 6);
    }
    for (const key of ["templates", "template"]) void client.invalidateQueries({ queryKey: [key] });
  };
}

export function useTemplateActions(): {
  copy: (one: Template) => Promise<void>;
  share: (one: Template, share: JobShare) => Promise<void>;
} {
  const { t } = useTranslation();
  const act = useAct();
  return {
    copy: (one) => act(async () => t("templates.copied", { name: (await copyTemplate(one.id)).name })),
    share: (one, share) =>
      act(async () => {
        await shareTemplate(one.id, share);
        return t("templates.share.changed");
      }),
  };
}

export function useDeleteTemplates(): (chosen: readonly Template[], done?: () => void) => void {
  const { t } = useTranslation();
  const { modal, message } = App.useApp();
  const act = useAct();
  const pick = useBilingual();
  const remove = async (chosen: readonly Template[]): Promise<string> => {
    const [first] = chosen;
    if (chosen.length === 1 && first) await deleteTemplate(first.id);
    else {
      const { done, refused } = await deleteTemplates(chosen.map((one) => one.id));
      if (refused.length > 0)
        message.warning(`${t("templates.delete.refused", { count: refused.length })} ${pick(refused[0]?.title)}`, 6);
      return t("templates.delete.done", { count: done.length });
    }
    return t("templates.delete.done", { count: 1 });
  };
  return (chosen, done) =>
    void modal.confirm({
      title: t("templates.delete.title", { count: chosen.length }),
      icon: null,
      width: 520,
      content: (
        <div data-testid="confirm">
          <ul className="tm-confirm-list">
            {chosen.slice(0, SHOWN_AT_MOST).map((one) => (
              <li key={one.id}>
                <strong>{one.name}</strong> <span className="tm-faint">{one.owner}</span>
              </li>
            ))}
            {chosen.length > SHOWN_AT_MOST && <li>{t("jobs.andMore", { count: chosen.length - SHOWN_AT_MOST })}</li>}
          </ul>
          <p>{t("templates.delete.what")}</p>
        </div>
      ),
      okText: t("templates.delete.ok"),
      cancelText: t("action.cancel"),
      okButtonProps: { danger: true, ...{ "data-testid": "confirm-ok" } },
      onOk: async () => {
        await act(() => remove(chosen));
        done?.();
      },
    });
}
