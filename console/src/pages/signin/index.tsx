/** Sign in; after the one-time password of the first start, choose an own one before anything else. */
import { LockOutlined, UserOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Flex, Form, Input } from "antd";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/client";
import { changePassword, readSession, signIn, signOut } from "../../api/session";
import type { Session } from "../../api/types";
import { LanguageSwitch, Logo, LookSwitch } from "../../shared/brand";
import { useErrorText } from "../../shared/ui";

export const SHORTEST_PASSWORD = 10;

export function SignInPage({ session }: { session: Session | null }): ReactNode {
  const { t } = useTranslation();
  const [used, setUsed] = useState("");
  return (
    <div className="tm-signin">
      <section className="tm-signin-pitch" aria-hidden="true">
        <Flex align="center" gap={12}>
          <Logo size={40} />
          <strong>Trainmaster</strong>
        </Flex>
        <div>
          <h2>{t("signin.tagline")}</h2>
          <p>{t("signin.point")}</p>
        </div>
        <span />
      </section>
      <section className="tm-signin-form">
        <Flex justify="flex-end" gap={4}>
          <LanguageSwitch />
          <LookSwitch />
        </Flex>
        <div className="tm-signin-box">
          {session === null ? <SignIn onUsed={setUsed} /> : <NewPassword old={used} />}
        </div>
        <span />
      </section>
    </div>
  );
}

function SignIn({ onUsed }: { onUsed: (password: string) => void }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const errorText = useErrorText();
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (values: { username: string; password: string }): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const session = await signIn(values.username, values.password);
      onUsed(values.password);
      client.setQueryData(["session"], session);
    } catch (error) {
      const wrong = error instanceof ApiError && error.status === 401;
      setProblem(wrong ? { title: t("signin.wrong"), remedy: t("signin.wrongHint") } : errorText(error));
      setBusy(false);
    }
  };
  return (
    <>
      <h1>{t("signin.title")}</h1>
      {problem && (
        <Alert
          type="error"
          showIcon
          title={problem.title}
          description={problem.remedy}
          className="tm-gap"
          data-testid="signin-error"
        />
      )}
      <Form
        layout="vertical"
        requiredMark={false}
        onFinish={(values: { username: string; password: string }) => void submit(values)}
        initialValues={{ username: "admin" }}
        size="large"
      >
        <Form.Item
          name="username"
          label={t("signin.username")}
          rules={[{ required: true, message: t("signin.needUsername") }]}
        >
          <Input prefix={<UserOutlined />} autoComplete="username" data-testid="username" />
        </Form.Item>
        <Form.Item
          name="password"
          label={t("signin.password")}
          rules={[{ required: true, message: t("signin.needPassword") }]}
        >
          <Input.Password prefix={<LockOutlined />} autoComplete="current-password" autoFocus data-testid="password" />
        </Form.Item>
        <Button type="primary" htmlType="submit" block loading={busy} data-testid="sign-in">
          {t("signin.submit")}
        </Button>
      </Form>
      <p className="tm-faint tm-signin-hint">{t("signin.firstStart")}</p>
    </>
  );
}

function NewPassword({ old }: { old: string }): ReactNode {
  const { t } = useTranslation();
  const client = useQueryClient();
  const leave = async (): Promise<void> => {
    await signOut();
    client.setQueryData(["session"], null);
  };
  return (
    <>
      <h1>{t("signin.changeTitle")}</h1>
      <p className="tm-faint">{t("signin.changeHint")}</p>
      <PasswordForm
        old={old}
        onDone={() => void readSession().then((session) => client.setQueryData(["session"], session))}
      />
      <Button type="link" block onClick={() => void leave()}>
        {t("signin.skip")}
      </Button>
    </>
  );
}

/** Also used by the settings page. `old` known: it is not asked for again. */
export function PasswordForm({ old, onDone }: { old?: string; onDone: () => void }): ReactNode {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const [form] = Form.useForm<{ old: string; fresh: string; again: string }>();
  const [problem, setProblem] = useState<{ title: string; remedy: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (values: { old?: string; fresh: string }): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await changePassword(values.old ?? old ?? "", values.fresh);
      form.resetFields();
      onDone();
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Form
      form={form}
      layout="vertical"
      requiredMark={false}
      onFinish={(values: { old?: string; fresh: string }) => void submit(values)}
      size="large"
    >
      {problem && <Alert type="error" showIcon title={problem.title} description={problem.remedy} className="tm-gap" />}
      {!old && (
        <Form.Item name="old" label={t("signin.old")} rules={[{ required: true, message: t("signin.needPassword") }]}>
          <Input.Password autoComplete="current-password" data-testid="old-password" />
        </Form.Item>
      )}
      <Form.Item
        name="fresh"
        label={t("signin.fresh")}
        rules={[
          { required: true, min: SHORTEST_PASSWORD, message: t("signin.tooShort") },
          ({ getFieldValue }) => ({
            validator: (_, value: string) =>
              value && value === (getFieldValue("old") ?? old)
                ? Promise.reject(new Error(t("signin.same")))
                : Promise.resolve(),
          }),
        ]}
      >
        <Input.Password autoComplete="new-password" data-testid="new-password" />
      </Form.Item>
      <Form.Item
        name="again"
        label={t("signin.again")}
        dependencies={["fresh"]}
        rules={[
          ({ getFieldValue }) => ({
            validator: (_, value: string) =>
              value === getFieldValue("fresh") ? Promise.resolve() : Promise.reject(new Error(t("signin.differ"))),
          }),
        ]}
      >
        <Input.Password autoComplete="new-password" data-testid="new-password-again" />
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={busy} data-testid="set-password">
        {t("signin.change")}
      </Button>
    </Form>
  );
}
