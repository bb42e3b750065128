// How the console is built: one page, hashed assets, no inline scripts (the server sends a strict content policy).
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vitest/config";

const server = process.env["TRAINMASTER_URL"] ?? "http://127.0.0.1:8470";

const WORTH_IT = 1024;

/** Beside each text its compressed forms, as small as they get: the server sends them as they are (trainmaster/api/static.py). */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: (config) => {
      folder = config.build.outDir;
    },
    closeBundle: () => {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!/\.(js|css|svg|html)$/.test(name)) continue;
        const text = readFileSync(join(folder, name));
        if (text.length < WORTH_IT) continue;
        writeFileSync(join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  server: { proxy: { "/api": { target: server, changeOrigin: true, headers: { origin: server } } } },
  build: {
    target: "es2022",
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What the sign-in page needs comes first and alone; antd and the router follow with the console (src/gate.tsx).
            // A group takes with it what it imports, so the first has to come before those that need it, too.
            {
              name: "first",
              test: /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](query-core|react-query)|i18next|react-i18next)[\\/]/,
              priority: 3,
            },
            // Then what the frame and the first page take of antd: all of it takes twice as long to begin with.
            {
              name: "antd",
              test: /node_modules[\\/](@ant-design[\\/]|antd[\\/]locale[\\/]|antd[\\/]es[\\/](alert|app|badge|button|config-provider|drawer|dropdown|empty|locale|popover|skeleton|tag|theme|tooltip)[\\/])/,
              priority: 2,
            },
            { name: "antd-more", test: /node_modules[\\/](antd|@rc-component|rc-)/, priority: 1 },
            { name: "router", test: /node_modules[\\/]@tanstack[\\/]/, priority: 1 },
          ],
        },
      },
    },
  },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"], restoreMocks: true },
});
