import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { textModules } from './texts-compiler/plugin.ts'

const COMPRESSIBLE = /\.(?:js|mjs|css|html|svg|json|webmanifest|wasm)$/
const SMALLEST = 512
// Larger files are rarely loaded, and take long to compress at the best quality. The packages of the first page are smaller.
const LARGE = 400_000

// Relative URLs throughout: the server writes the root of the site into <base>, which a proxy may have moved. Built
// files are served from `web/`.
export default defineConfig({
  base: './',
  plugins: [
    textModules(),
    passwordRule(),
    react(),
    firstRequests(),
    serviceWorker(),
    membersOnly(),
    belowWeb(),
    pdfParts(),
    packageList(),
    compressed(),
  ],
  build: {
    target: 'es2023',
    outDir: 'dist',
    assetsDir: 'assets',
    modulePreload: { polyfill: false },
    // The content security policy refuses inlined `data:` files.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
  },
  // The app of visitors is built apart: in a build of both, visitors would load what only members need.
  builder: {
    async buildApp(builder) {
      const { client, link } = builder.environments
      if (client === undefined || link === undefined) throw new Error('The web app has two builds')
      await builder.build(client)
      await builder.build(link)
    },
  },
  environments: {
    client: { build: { rolldownOptions: { output: { codeSplitting: { groups: chunkGroups() } } } } },
    link: {
      consumer: 'client',
      build: {
        outDir: 'dist/visitors',
        copyPublicDir: false,
        rolldownOptions: {
          input: path.join(import.meta.dirname, 'link.html'),
          output: { codeSplitting: { groups: visitorGroups() } },
        },
      },
    },
  },
})

/** The rule by which the server refuses common passwords. The app has the same, to say so while one is typed. */
function passwordRule(): Plugin {
  const file = path.join(import.meta.dirname, '../src/people/passwords/common-passwords.ts')
  return { name: 'password-rule', resolveId: (id) => (id === 'virtual:common-passwords' ? file : undefined) }
}

/** Whether a plugin is for the app of members only. */
function ofMembers({ name }: { name: string }): boolean {
  return name === 'client'
}

/** Parts loaded on demand that visitors use. */
const PARTS_OF_VISITORS =
  /(?:visited-folder|visited-file|archive-tray|code-editor|markdown|pdf-view|table-view|spreadsheet-view|word-view)\.tsx$/

/** Leaves the other parts out of the app of visitors: what they use would be in the file of every page. */
function membersOnly(): Plugin {
  const nothing = '\0members-only'
  return {
    name: 'members-only',
    enforce: 'pre',
    apply: 'build',
    applyToEnvironment: (environment) => !ofMembers(environment),
    resolveId(source, importer = '') {
      const isPart =
        /[\\/]web[\\/]src[\\/].*[\\/]lazy(?:-parts)?\.ts$/.test(importer) && source.endsWith('.tsx')
      return isPart && source.startsWith('./') && !PARTS_OF_VISITORS.test(source) ? nothing : undefined
    },
    load: (id) => (id === nothing ? 'export default undefined' : undefined),
  }
}

/** What every page of a link needs is one file, and what the list of a folder needs besides. */
function visitorGroups() {
  return [
    { name: 'link', tags: ['$initial' as const], priority: 9 },
    { name: 'overlays', test: /[\\/]web[\\/]src[\\/]ui[\\/]overlay-parts\.ts$/, priority: 7 },
    { name: 'folder', test: /[\\/]web[\\/]src[\\/]files[\\/]visited-folder\.tsx$/, priority: 8 },
  ]
}

/**
 * Which modules share a file. Each file costs a round trip on a slow line, so what is used together is loaded together. A group
 * contains what its modules import statically. A module that no group names stays in the file of the `import()` that loads it: the
 * viewers, and one file for each language that the editor highlights.
 */
function chunkGroups() {
  const initial = { tags: ['$initial' as const] }
  return [
    // Packages change less often than our own code, so a new release finds them in the cache of the browser.
    { name: 'vendor', test: /[\\/]node_modules[\\/]/, ...initial, priority: 9 },
    {
      name: 'app',
      test: /^(?!.*(?:first-requests\.ts|[\\/]service-worker[\\/][^\\/]+\.ts)$)/,
      ...initial,
      priority: 8,
    },
    { name: 'overlays', test: /[\\/]web[\\/]src[\\/]ui[\\/]overlay-parts\.ts$/, priority: 7 },
    { name: 'libraries', test: /[\\/]web[\\/]src[\\/]libraries[\\/]libraries-page\.tsx$/, priority: 7 },
    { name: 'folder', test: /[\\/]web[\\/]src[\\/]files[\\/]folder-page\.tsx$/, priority: 6 },
    { name: 'uploads', test: /[\\/]web[\\/]src[\\/]uploads[\\/]/, priority: 5 },
    { name: 'photos', test: /[\\/]web[\\/]src[\\/]photos[\\/]/, priority: 4 },
    { name: 'admin', test: /[\\/]web[\\/]src[\\/]admin[\\/]/, priority: 4 },
    {
      name: 'pages',
      test: /[\\/]web[\\/]src[\\/](?!viewer[\\/]|texts[\\/]|first-requests\.ts|service-worker[\\/])|[\\/]node_modules[\\/](?:lucide-react|@?radix-ui)[\\/]/,
      priority: 3,
    },
    {
      name: 'editor',
      test: /[\\/]node_modules[\\/](?:codemirror|@codemirror[\\/](?:autocomplete|commands|language|lint|search|state|view)|@lezer[\\/](?:common|highlight|lr))[\\/]/,
      priority: 2,
    },
  ]
}

/**
 * Adds the script that requests the data of the first page. It preloads the files of the page of a folder if that is the first one.
 * Those of the list of libraries are preloaded for everyone, because a folder needs most of them too. Fonts are not preloaded: on a
 * slow line they would delay the list, and until they are there text is shown in a font of the system.
 */
function firstRequests(): Plugin {
  return {
    name: 'first-requests',
    apply: 'build',
    applyToEnvironment: ofMembers,
    buildStart() {
      this.emitFile({ type: 'chunk', id: 'src/first-requests.ts', name: 'first-requests' })
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {}, filename }) {
        if (!filename.endsWith('index.html')) return html
        const files = Object.values(bundle)
        const chunksOf = (...names: string[]) =>
          names.map((name) => {
            const found = files.find((file) => file.type === 'chunk' && file.name === name)
            if (found === undefined) throw new Error(`The build has no chunk ${name}`)
            return found.fileName
          })
        const styles = files
          .map(({ fileName }) => fileName)
          .filter((name) => /^assets\/libraries-[^/]*\.css$/.test(name))
        const preload = {
          '': below(chunksOf('libraries-page')),
          library: below(chunksOf('folder', 'folder-page')),
        }
        const attribute = JSON.stringify(preload).replaceAll('"', '&quot;')
        const tags = [
          `<script type="module" async crossorigin src="./${chunksOf('first-requests')[0]}" data-preload="${attribute}"></script>`,
          ...chunksOf('libraries').map((name) => `<link rel="modulepreload" crossorigin href="./${name}">`),
          ...styles.map((name) => `<link rel="stylesheet" crossorigin href="./${name}">`),
        ]
        // Before the other scripts, so that its requests are sent first.
        return html.replace('<script type="module"', `${tags.join('\n    ')}\n    <script type="module"`)
      },
    },
  }
}

/** Files without code of ours that every page needs, and the editor, which shows texts. */
const PACKAGES: readonly string[] = ['vendor', 'overlays', 'editor', 'rolldown-runtime']

/** The largest file that is kept for the time without a connection, except for the packages of every page and of the editor. */
const LARGEST_KEPT = 300_000

/** Viewers that are kept only with starred files that need them: the endings of these, and the module. */
const LARGE_VIEWERS = { pdf: /[\\/]viewer[\\/]pdf-view\.tsx$/ } as const

/**
 * Adds the service worker, at an address that stays the same. It gets its limits and the lists of the files to keep: our own code and styles for everyone,
 * and the viewers that are too large for that.
 */
function serviceWorker(): Plugin {
  const fileName = 'service-worker.js'
  return {
    name: 'service-worker',
    apply: 'build',
    applyToEnvironment: ofMembers,
    buildStart() {
      this.emitFile({ type: 'chunk', id: 'src/service-worker/index.ts', fileName })
    },
    async generateBundle(_options, bundle) {
      const files = Object.values(bundle).filter((file) => {
        if (!/^assets\/[^/]+\.(?:js|css|woff2)$/.test(file.fileName)) return false
        if (file.type === 'asset' || PACKAGES.includes(file.name)) return true
        // The file of an `import()` may have no code itself, because a group has it.
        const ids = [...Object.keys(file.modules), file.facadeModuleId ?? '']
        const isOurs = ids.some((id) => /[\\/]web[\\/]src[\\/]|virtual:texts\/en/.test(id))
        return isOurs && file.code.length < LARGEST_KEPT
      })
      const worker = bundle[fileName]
      if (worker?.type !== 'chunk' || worker.imports.length > 0)
        throw new Error('The service worker must be one file')
      const names = files.map((file) => file.fileName)
      const parts = (await pdfFiles()).map((file) => file.fileName)
      const viewers = Object.entries(LARGE_VIEWERS).map(([ending, module]) => {
        const chunk = Object.values(bundle).find(
          (file) => file.type === 'chunk' && module.test(file.facadeModuleId ?? ''),
        )
        if (chunk?.type !== 'chunk') throw new Error(`The build has no viewer for ${ending}`)
        const needed = [chunk.fileName, ...chunk.imports, ...parts]
        return [ending, ...below(needed.filter((name) => !names.includes(name)))].join(' ')
      })
      const filled = Object.entries({
        __FILES__: below(names).sort().join(' '),
        __VIEWERS__: viewers.join(';'),
        __LIMITS__: await limitsOfOffline(),
      }).reduce((code, [name, value]) => code.replaceAll(name, () => value), worker.code)
      const build = createHash('sha256').update(filled).digest('hex').slice(0, 16)
      worker.code = filled.replaceAll('__BUILD__', build)
    },
  }
}

const below = (names: readonly string[]) => names.map((name) => `web/${name}`)

/** The limits of what is kept, as a query string. The app imports the same file. */
async function limitsOfOffline(): Promise<string> {
  const text = await readFile(path.join(import.meta.dirname, 'src/offline-limits.json'), 'utf8')
  const limits = Object.entries(JSON.parse(text) as Record<string, number>)
  return new URLSearchParams(limits.map(([name, value]) => [name, String(value)])).toString()
}

/** Rewrites asset URLs in the page to be relative to the root of the site. */
function belowWeb(): Plugin {
  return {
    name: 'below-web',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { filename }) =>
        filename.endsWith('index.html') ? html.replaceAll('"./assets/', '"web/assets/') : html,
    },
  }
}

/** The PDF worker and its encodings, fonts and decoders, and under which names the library requests them. */
async function pdfFiles(): Promise<{ fileName: string; source: string }[]> {
  const folders = {
    build: /^pdf\.worker\.min\.mjs$/,
    cmaps: /\.bcmap$/,
    standard_fonts: /\.(?:pfb|ttf)$/,
    wasm: /^(?!quickjs).*\.wasm$/,
    iccs: /\.icc$/,
  }
  const manifest = createRequire(import.meta.url).resolve('pdfjs-dist/package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  const found = Object.entries(folders).map(async ([folder, wanted]) => {
    const from = path.join(path.dirname(manifest), folder)
    const names = (await readdir(from)).filter((name) => wanted.test(name))
    return names.map((name) => ({
      fileName: `assets/pdf-${version}/${folder}/${name}`,
      source: path.join(from, name),
    }))
  })
  return (await Promise.all(found)).flat()
}

/** Copies the parts of the PDF viewer. */
function pdfParts(): Plugin {
  return {
    name: 'pdf-parts',
    apply: 'build',
    applyToEnvironment: ofMembers,
    async generateBundle() {
      for (const { fileName, source } of await pdfFiles())
        this.emitFile({ type: 'asset', fileName, source: await readFile(source) })
    },
  }
}

/** Lists the folders of the packages whose code the web app contains, for the bill of materials of a release. It is not served. */
function packageList(): Plugin {
  return {
    name: 'package-list',
    apply: 'build',
    applyToEnvironment: ofMembers,
    generateBundle(_options, bundle) {
      const root = path.join(import.meta.dirname, '..')
      const folders = Object.values(bundle)
        .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
        .map((id) => path.relative(root, id).split(path.sep).join('/'))
        .flatMap((id) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(id) ?? [])
      this.emitFile({ type: 'asset', fileName: '.packages', source: [...new Set(folders)].sort().join('\n') })
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
          .filter((name) => COMPRESSIBLE.test(name) && !/^(?:index|link)\.html$/.test(name))
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
