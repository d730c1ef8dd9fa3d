import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readDescription } from '../bin/description.ts'
import { builtFiles, writeFiles } from '../bin/generate.ts'
import { collectMessages } from './messages.ts'
import {
  assetOf,
  explainedMessages,
  listPages,
  llmsText,
  MESSAGES_PAGE,
  messagesPage,
  siteText,
} from './pages.ts'
import { DESCRIPTION_ASSET, linkCalls, makeReference } from './reference.ts'

// `npm run docs`: builds the documentation site into site/dist. --out names another folder, --serve shows the site afterwards.

const site = import.meta.dirname
const root = path.join(site, '..')

/** Writes the sources of the site: pages with adapted links, generated pages, assets. */
function assemble(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const pages = listPages(root)
  const put = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), text)
  }
  const explained = explainedMessages(readFileSync(path.join(root, 'docs/troubleshooting.md'), 'utf8'))
  const description = readDescription()
  const reference = makeReference(description)
  const texts = new Map(
    pages.map((page) => [page.target, linkCalls(siteText(page, pages, root), reference.calls)]),
  )
  for (const [file, text] of reference.pages) texts.set(file, text)
  texts.set(MESSAGES_PAGE, messagesPage(collectMessages(root), explained))
  for (const [file, text] of texts) {
    put(file, text)
    put(path.join('public', file), text)
  }
  put('index.md', readFileSync(path.join(site, 'index.md'), 'utf8'))
  put('public/llms.txt', llmsText(pages, root))
  put(path.join('public', DESCRIPTION_ASSET), JSON.stringify(description))
  for (const file of globSync(['docs/**/*.*', 'bench/results/*.*'], { cwd: root })) {
    const asset = assetOf(file)
    if (asset !== undefined) cpSync(path.join(root, file), path.join(folder, 'public', asset))
  }
  cpSync(path.join(root, 'src/surfaces/pages/assets/icon.svg'), path.join(folder, 'public/icon.svg'))
  cpSync(path.join(site, '.vitepress'), path.join(folder, '.vitepress'), { recursive: true })
  const styles = readFileSync(path.join(root, 'web/src/ui/base.css'), 'utf8')
  put('.vitepress/theme/colors.css', productColors(styles))
}

/** The colors and fonts of the web app, which its base styles declare for both themes, for the themes of the site. */
function productColors(styles: string): string {
  const rules = [
    [':root', ':root'],
    [':root[data-theme="dark"]', '.dark'],
  ].map(([selector, ours]) => {
    const [, block = ''] = `\n${styles}`.split(`\n${selector} {`)
    const [declared = ''] = block.split('}')
    const wanted = declared
      .split(';')
      .filter((declaration) => /^\s*--(?:[\w-]+:\s*#|sans:|serif:|mono:)/.test(declaration))
    return `${ours} {${wanted.join(';')};\n}\n`
  })
  return rules.join('')
}

/** Installs the generator. It is no package of the server or its tests, so only this command installs it. */
function install(): void {
  const lock = readFileSync(path.join(site, 'package-lock.json'), 'utf8')
  const stamp = path.join(site, 'node_modules/.lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  writeFileSync(stamp, lock)
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: site, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed (${error?.message ?? status}).`)
}

/** Builds the site. A link to nowhere fails it. */
export async function buildSite(out: string): Promise<void> {
  install()
  await writeFiles(await builtFiles())
  const source = path.join(site, 'source')
  assemble(source)
  const vitepress = path.join(site, 'node_modules/vitepress/bin/vitepress.js')
  run(process.execPath, [vitepress, 'build', source, '--outDir', out])
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: path.join(site, 'dist') }, serve: { type: 'boolean' } },
  })
  const out = path.resolve(values.out)
  await buildSite(out)
  console.log(`Written: ${out}`)
  if (values.serve) {
    const vitepress = path.join(site, 'node_modules/vitepress/bin/vitepress.js')
    run(process.execPath, [vitepress, 'preview', path.join(site, 'source'), '--outDir', out])
  }
}
