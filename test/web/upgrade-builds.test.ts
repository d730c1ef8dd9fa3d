import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { sourceProgram } from '../support/command.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { dropFiles, holdLaterChunks, madeBytes } from './upload-support.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const MB = 1_000_000
/** A word of every page that differs between the builds, so that most of their files have other names. */
const NOW = 'Home'
const THEN = 'Home of the earlier release'

/** The server is stopped and another installation, with a build of its own, is started on its data and port. */
describe('an upgrade from one build to another', () => {
  let folder: string
  let earlier: readonly string[]
  let browser: Browser | undefined
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-upgrade-'))
    earlier = await buildEarlier(path.join(folder, 'earlier'))
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** A page of the earlier release, and the upgrade. */
  async function begin(t: TestContext, address: (client: Client) => Promise<string>) {
    if (browser === undefined) {
      t.skip('chromium is not installed')
      return undefined
    }
    const data = await mkdtemp(path.join(folder, 'data-'))
    let server: ChildServer = await spawnServer(data, {}, { from: earlier })
    t.after(() => server[Symbol.asyncDispose]())
    const { url } = server
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    const context = await browser.newContext({ serviceWorkers: 'block' })
    t.after(() => context.close())
    context.setDefaultTimeout(120_000)
    await context.addInitScript(`localStorage.setItem('carrel.token', ${JSON.stringify(client.token)})`)
    const page = await context.newPage()
    const shown = await address(client)
    await page.goto(`${url}/app${shown}`)
    const home = (name: string) =>
      page.locator('a[href$="/home"]', { hasText: new RegExp(`^${name}$`) }).first()
    await home(THEN).waitFor({ state: 'attached' })
    return {
      page,
      client,
      isNow: () => home(NOW).waitFor({ state: 'attached' }),
      isThen: () => home(THEN).waitFor({ state: 'attached' }),
      async upgrade() {
        await server.stop()
        server = await spawnServer(data, { CARREL_PORT: new URL(url).port })
        assert.equal(server.url, url)
      },
    }
  }

  it('lets a page load itself again when it needs a part that is gone', async (t) => {
    const at = await begin(t, async () => '/')
    if (at === undefined) return
    await at.upgrade()
    await follow(at.page, '/photos')
    await at.page.getByRole('heading', { level: 1, name: 'Photos' }).waitFor()
    await at.isNow()
    assert.equal(await at.page.getByText('dynamically imported').count(), 0)
  })

  it('keeps what is typed: the page goes on, and is saved before it loads again', async (t) => {
    let library = ''
    const at = await begin(t, async (client) => {
      library = await client.createLibrary('Notes')
      await uploadFile(client, library, '/plan.txt', 'before')
      return `/view/${library}?p=/plan.txt`
    })
    if (at === undefined) return
    const { page, client } = at
    const editor = page.locator('.cm-content')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await editor.click()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type(' and after')
    await at.upgrade()
    await page.keyboard.type(' the upgrade')
    await at.isThen()
    await page.keyboard.press('ControlOrMeta+s')
    await eventually(async () => {
      const link = await client.get(`/api2/repos/${library}/file/`, { p: '/plan.txt', reuse: 1 })
      const stored = await fetch(JSON.parse(link.text) as string)
      assert.equal(await stored.text(), 'before and after the upgrade')
    })
    await page.keyboard.type(', unsaved')
    await follow(page, '/photos')
    // Either the page asks what to do with the text, or it waits as a draft.
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await at.isThen()
    await page.keyboard.press('Escape')
    assert.match(await editor.innerText(), /the upgrade, unsaved/)
  })

  it('loses no upload: it goes on at the new server', async (t) => {
    let library = ''
    const at = await begin(t, async (client) => {
      library = await client.createLibrary('Films')
      return `/library/${library}`
    })
    if (at === undefined) return
    const { page, client } = at
    const chunks = await holdLaterChunks(page)
    await dropFiles(page, [{ name: 'film.bin', size: 18 * MB }])
    await chunks.untilHeld()
    await at.upgrade()
    await follow(page, '/photos')
    await page.getByText('Carrel was updated while this page was open').waitFor()
    await at.isThen()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: 'Photos' }).waitFor()
    await at.isNow()
    chunks.letGo()
    await eventually(async () => {
      const link = await client.get(`/api2/repos/${library}/file/`, { p: '/film.bin', reuse: 1 })
      assert.equal(link.status, 200)
      const stored = await fetch(JSON.parse(link.text) as string)
      assert.deepEqual(Buffer.from(await stored.arrayBuffer()), madeBytes(18 * MB))
    })
  })
})

const follow = (page: Page, path: string) =>
  page.evaluate(`document.querySelector('a[href$="${path}"]').click()`)

/** Copies the sources, changes a text, and builds the web app there. Returns how its server is started. */
async function buildEarlier(to: string): Promise<readonly string[]> {
  await mkdir(to)
  for (const part of [
    'src',
    'sdk',
    'bin',
    'web',
    'packages',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ])
    await cp(path.join(ROOT, part), path.join(to, part), {
      recursive: true,
      filter: (file) => !/[/\\](?:dist|node_modules)$/.test(file),
    })
  await symlink(path.join(ROOT, 'node_modules'), path.join(to, 'node_modules'))
  const texts = path.join(to, 'web/src/texts/en/shell.json')
  const changed = { ...JSON.parse(await readFile(texts, 'utf8')), homePage: THEN }
  await writeFile(texts, JSON.stringify(changed))
  const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js')
  await promisify(execFile)(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: path.join(to, 'web'),
    maxBuffer: 2 ** 24,
  })
  return [...sourceProgram.slice(0, -1), path.join(to, 'src/main.mjs')]
}
