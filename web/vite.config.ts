import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const COMPRESSIBLE = /\.(?:js|mjs|css|html|svg|json|webmanifest|wasm)$/
const SMALLEST = 1024
// Large files are rarely loaded, and take long to compress at the best quality.
const LARGE = 250_000

// Relative URLs throughout: the server writes the root of the site into <base>, which a proxy may have moved. Built
// files are served from `web/`.
export default defineConfig({
  base: './',
  plugins: [react(), belowWeb(), pdfParts(), compressed()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    assetsDir: 'assets',
    modulePreload: { polyfill: false },
    // The content security policy refuses inlined `data:` files.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
  },
})

/** Rewrites asset URLs in the page to be relative to the root of the site. */
function belowWeb(): Plugin {
  return {
    name: 'below-web',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => html.replaceAll('"./assets/', '"web/assets/'),
    },
  }
}

/** Copies the PDF worker and its encodings, fonts and decoders under the names the library requests. */
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

/** Writes a Brotli and a gzip copy beside each compressible file. */
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
