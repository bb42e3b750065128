// How the console is built: one page, hashed assets, no inline scripts (the server sends a strict content policy).
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env["TRAINMASTER_URL"] ?? "http://127.0.0.1:8470";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/api": { target: server, changeOrigin: true, headers: { origin: server } } } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "antd", test: /node_modules[\\/](antd|@ant-design|@rc-component|rc-)/, priority: 3 },
            {
              name: "react",
              test: /node_modules[\\/](react|react-dom|scheduler|@tanstack|i18next|react-i18next)[\\/]/,
              priority: 2,
            },
          ],
        },
      },
    },
  },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"], restoreMocks: true },
});
