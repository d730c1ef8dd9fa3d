import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const COMPRESSIBLE = /\.(?:js|mjs|css|html|svg|json|webmanifest|wasm)$/
const SMALLEST = 1024
// What is large is loaded by few, and takes long to compress as well as can be.
const LARGE = 250_000

// Relative addresses throughout: the server says in <base> where the root of the site is, which a proxy may have
// moved. Built files are sent from `web/`.
export default defineConfig({
  base: './',
  plugins: [react(), belowWeb(), pdfParts(), compressed()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    assetsDir: 'assets',
    modulePreload: { polyfill: false },
    // Small files inlined as data: would be refused by the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
  },
})

/** The page names its parts from the root of the site on, where they are below `web/`. */
function belowWeb(): Plugin {
  return {
    name: 'below-web',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => html.replaceAll('"./assets/', '"web/assets/'),
    },
  }
}

/** The worker that reads PDFs, and encodings, fonts and decoders that some of them need, under the names the library asks for. */
function pdfParts(): Plugin {
  const folders = {
    build: /^pdf\.worker\.min\.mjs$/,
    cmaps: /\.bcmap$/,
    standard_fonts: /\.(?:pfb|ttf)$/,
    wasm: /^(?!quickjs).*\.wasm$/,
    iccs: /\.icc$/,
  }
  return {
    name: 'pdf-parts',
    apply: 'build',
    async generateBundle() {
      const manifest = createRequire(import.meta.url).resolve('pdfjs-dist/package.json')
      const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
      for (const [folder, wanted] of Object.entries(folders)) {
        const from = path.join(path.dirname(manifest), folder)
        for (const name of await readdir(from)) {
          if (!wanted.test(name)) continue
          const fileName = `assets/pdf-${version}/${folder}/${name}`
          this.emitFile({ type: 'asset', fileName, source: await readFile(path.join(from, name)) })
        }
      }
    },
  }
}

/** Lays a compressed copy beside each file that profits from one. */
function compressed(): Plugin {
  const brotli = promisify(brotliCompress)
  const zip = promisify(gzip)
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = 'dist' }) {
      const names = await readdir(dir, { recursive: true })
      await Promise.all(
        names
          .filter((name) => COMPRESSIBLE.test(name) && name !== 'index.html')
          .map(async (name) => {
            const file = path.join(dir, name)
            const content = await readFile(file)
            if (content.length < SMALLEST) return
            const quality = content.length > LARGE ? 9 : 11
            const params = { [constants.BROTLI_PARAM_QUALITY]: quality }
            await writeFile(`${file}.br`, await brotli(content, { params }))
            await writeFile(`${file}.gz`, await zip(content, { level: 9 }))
          }),
      )
    },
  }
}
