import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { seriousViolations } from '../support/accessibility.ts'
import { openProfile } from '../support/browser.ts'
import { eventually, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { furnished } from './files-support.ts'
import { cacheNames, controlled, keptUrls, openProxy } from './offline-support.ts'
import { webSuite } from './support.ts'
import { makePages, write } from './viewer-support.ts'

const OPTIONS = { locale: 'en-GB', viewport: { width: 1280, height: 800 } } satisfies BrowserContextOptions
/** So large that the viewer of PDF requests ranges. */
const PAGES = Array.from({ length: 900 }, (_, index) => `This is leaf ${index + 1}`)

/** A browser that is closed and started again with the same profile, in front of a server that can be cut off. */
class Device {
  readonly #folder: string
  readonly #t: TestContext
  #context: Awaited<ReturnType<typeof openProfile>>

  constructor(t: TestContext, folder: string) {
    this.#t = t
    this.#folder = folder
    t.after(async () => {
      await this.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    })
  }

  static async make(t: TestContext): Promise<Device> {
    return new Device(t, await mkdtemp(path.join(tmpdir(), 'carrel-profile-')))
  }

  /** Starts the browser, signed in with a token if it is given. Undefined where none is installed. */
  async start(token?: string): Promise<Page | undefined> {
    this.#context = await openProfile(this.#folder, OPTIONS)
    if (this.#context === undefined) {
      this.#t.skip('chromium is not installed')
      return undefined
    }
    this.#context.setDefaultTimeout(60_000)
    const page = await this.#context.newPage()
    if (token !== undefined) {
      await page.addInitScript((value) => {
        const { localStorage } = globalThis as unknown as { localStorage: Storage }
        localStorage.setItem('carrel.token', value)
      }, token)
    }
    return page
  }

  /** Closes the browser as when the device is switched off, and empties its HTTP cache: a browser may do so at any time. */
  async stop(): Promise<void> {
    await this.#context?.close()
    this.#context = undefined
    for (const cache of ['Cache', 'Code Cache'])
      await rm(path.join(this.#folder, 'Default', cache), { recursive: true, force: true })
  }
}

interface Storage {
  setItem(name: string, value: string): void
}

const checkAccess = async (page: Page) => {
  const serious = await seriousViolations(page)
  assert.deepEqual(
    serious.map(({ id }) => id),
    [],
  )
}

const storedDrafts = async (page: Page) =>
  (await page.evaluate(
    `Object.keys(localStorage).filter((key) => key.startsWith('carrel.draft')).length`,
  )) as number

describe('a browser started without a server', () => {
  const suite = webSuite()

  it('shows the last lists, and starred texts, pictures and PDF files', async (t) => {
    const space = await furnished(suite.server)
    await uploadFile(space.client, space.id, '/book.pdf', makePages(PAGES))
    for (const starred of ['/book.pdf', '/notes.md', '/Photos/hill.jpg'])
      await space.client.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path: starred } })
    const proxy = await openProxy(t, suite.server.url)
    const device = await Device.make(t)
    const before = await device.start(space.client.token)
    if (before === undefined) return
    await before.goto(`${proxy.url}/app/library/${space.id}`)
    await before.getByRole('link', { name: 'notes.md' }).waitFor()
    await controlled(before)
    // The first page was there before the worker.
    await before.goto(`${proxy.url}/app/library/${space.id}`)
    await before.getByRole('link', { name: 'notes.md' }).waitFor()
    await before.goto(`${proxy.url}/app/starred`)
    await before.getByRole('link', { name: 'book.pdf' }).waitFor()
    await eventually(async () => {
      const parts = await keptUrls(before, 'carrel-shell-')
      assert.ok(
        parts.some((url) => url.endsWith('.icc')),
        'the viewer is kept',
      )
    })
    await device.stop()
    proxy.cut()

    const page = await device.start()
    if (page === undefined) return
    await page.goto(`${proxy.url}/app/library/${space.id}`)
    await page.getByRole('link', { name: 'notes.md' }).waitFor()
    await page.goto(`${proxy.url}/app/view/${space.id}?p=/notes.md`)
    await page.getByRole('heading', { name: 'Notes' }).waitFor()
    await page.goto(`${proxy.url}/app/view/${space.id}?p=/Photos/hill.jpg`)
    const image = page.getByRole('img', { name: 'hill.jpg' })
    await image.waitFor()
    await eventually(async () =>
      assert.equal(await image.evaluate((one: { naturalWidth: number }) => one.naturalWidth), 480),
    )
    await page.goto(`${proxy.url}/app/view/${space.id}?p=/book.pdf`)
    await page.getByText('This is leaf 1', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Page' }).fill('800')
    await page.keyboard.press('Enter')
    await page.getByText('This is leaf 800', { exact: true }).waitFor()

    await page.goto(`${proxy.url}/app/account/offline`)
    await page.getByRole('list', { name: 'Starred files' }).getByRole('link', { name: 'book.pdf' }).waitFor()
    const kept = page.getByRole('list', { name: 'Offline' })
    assert.match(await kept.getByText('Starred files').locator('..').innerText(), /3, .* MB|3, .* KB/)
    await checkAccess(page)
    await page.getByRole('button', { name: 'Remove from this device' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from this device' }).click()
    await page.getByText('Removed from this device').waitFor()
    assert.deepEqual(await keptUrls(page, 'carrel-data-'), [])
    assert.equal((await cacheNames(page, 'carrel-data-')).length, 1)
  })

  it('restores a note that was edited without a server, and saves it once there is one', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/notes.txt', '\ufefffirst\r\n')
    const text = async (at: string) => (await storedBytes(suite.server, space.id, at)).toString()
    const proxy = await openProxy(t, suite.server.url)
    const device = await Device.make(t)
    const address = `${proxy.url}/app/view/${space.id}?p=/notes.txt`
    const before = await device.start(space.client.token)
    if (before === undefined) return
    await before.goto(address)
    await controlled(before)
    await before.goto(address)
    await before.getByRole('button', { name: 'Edit' }).click()
    proxy.cut()
    await write(before, 'offline ')
    await before.getByRole('button', { name: 'Save' }).click()
    await before.getByText('will be saved when the connection is back').waitFor()
    await write(before, 'typed ')
    await eventually(async () => assert.equal(await storedDrafts(before), 1))
    await before.waitForTimeout(500)
    await device.stop()

    const cold = await device.start()
    if (cold === undefined) return
    await cold.goto(address)
    await cold.getByText('typed offline first').waitFor()
    await cold.getByText('Your unsaved changes were restored').waitFor()
    await checkAccess(cold)
    await device.stop()
    proxy.state.isDown = false
    const back = await device.start()
    if (back === undefined) return
    await back.goto(`${proxy.url}/app/`)
    await back.getByText('Saved as notes.txt.').waitFor()
    assert.equal(await text('/notes.txt'), '\ufefftyped offline first\r\n')
    assert.equal(await storedDrafts(back), 0)

    // Someone else changes the file before the connection is back.
    await back.goto(address)
    await back.getByRole('button', { name: 'Edit' }).click()
    proxy.cut()
    await write(back, 'mine ')
    await back.getByRole('button', { name: 'Save' }).click()
    await back.getByText('will be saved when the connection is back').waitFor()
    await back.waitForTimeout(500)
    await device.stop()
    await uploadFile(space.client, space.id, '/notes.txt', 'theirs', { replace: true })
    proxy.state.isDown = false
    const later = await device.start()
    if (later === undefined) return
    await later.goto(`${proxy.url}/app/`)
    await later.getByText('notes.txt was changed while you were offline').waitFor()
    await later.getByRole('button', { name: 'Back to file' }).click()
    await later.getByText('Someone has changed this file since you opened it').waitFor()
    await later.getByRole('button', { name: 'Save' }).click()
    await later.getByRole('button', { name: 'Save mine as a copy' }).click()
    await later.getByText('Saved as notes (1).txt.').waitFor()
    assert.equal(await text('/notes.txt'), 'theirs')
    assert.equal(await text('/notes (1).txt'), '\ufeffmine typed offline first\r\n')
    assert.equal(await storedDrafts(later), 0)
    assert.deepEqual(await namesIn(space.client, space.id), ['notes (1).txt', 'notes.txt'])
  })
})

describe('what is kept for the time without a server', () => {
  const suite = webSuite()

  it('stays within its limits: the oldest goes first, but not what a starred file needs', async (t) => {
    const space = await Workspace.make(suite.server)
    const folders = ['One', 'Two', 'Three', 'Four', 'Five']
    for (const name of folders) {
      await space.folder(`/${name}`)
      await uploadFile(space.client, space.id, `/${name}/${name}.txt`, name.repeat(100))
    }
    for (const name of ['One', 'Two', 'Three'])
      await space.client.post('/api/v2.1/starred-items/', {
        form: { repo_id: space.id, path: `/${name}/${name}.txt` },
      })
    const tab = await suite.openTab(t, space.client, { serviceWorkers: 'allow' })
    if (tab === undefined) return
    const proxy = await openProxy(t, suite.server.url)
    proxy.state.limits = { lists: 6, files: 2, fileBytes: 400 }
    const { page } = tab
    await page.goto(`${proxy.url}/app/starred`)
    await controlled(page)
    await page.goto(`${proxy.url}/app/starred`)
    const files = async () =>
      (await keptUrls(page, 'carrel-data-')).filter((url) => url.includes('offline-file')).length
    // Two of the three are wanted, and one of those is larger than a file may be.
    await eventually(async () => assert.ok((await files()) >= 1))
    for (const name of folders) {
      await page.goto(`${proxy.url}/app/library/${space.id}?p=/${name}`)
      await page.getByRole('link', { name: `${name}.txt` }).waitFor()
    }
    await eventually(async () => {
      const urls = await keptUrls(page, 'carrel-data-')
      const lists = urls.filter((url) => !url.includes('offline-file'))
      assert.ok(lists.length <= 6, lists.join(' '))
      assert.ok(
        lists.some((url) => url.endsWith('/dir/?p=%2FFive')),
        lists.join(' '),
      )
      for (const file of urls.filter((url) => url.includes('offline-file'))) {
        const [, folder = ''] = /%2F(\w+)%2F/.exec(file) ?? []
        assert.ok(
          lists.some((url) => url.endsWith(`/dir/?p=%2F${folder}`)),
          `${file}: ${lists.join(' ')}`,
        )
      }
    })
    assert.ok((await files()) <= 2)
  })

  it('has no text of an encrypted library, and none after sign-out', async (t) => {
    const person = await suite.server.signUp()
    const made = await person.post('/api/v2.1/repos/', { form: { repo_name: 'Diary', passwd: 'a password' } })
    const diary: string = made.body.repo_id
    await person.post(`/api/v2.1/repos/${diary}/set-password/`, { form: { password: 'a password' } })
    await uploadFile(person, diary, '/secret.txt', 'secret')
    const plain = await person.createLibrary('Plain')
    await uploadFile(person, plain, '/open.txt', 'open')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const edit = async (id: string, name: string) => {
      await tab.go(`/view/${id}?p=/${name}`)
      await page.getByRole('button', { name: 'Edit' }).click()
      await write(page, 'more ')
      await page.getByText('Unsaved changes').waitFor()
    }
    await edit(diary, 'secret.txt')
    await page.waitForTimeout(1000)
    assert.equal(await storedDrafts(page), 0)
    await edit(plain, 'open.txt')
    await eventually(async () => assert.equal(await storedDrafts(page), 1))
    await tab.go('/account/offline')
    await page.getByRole('list', { name: 'Unsaved texts' }).getByRole('link', { name: 'open.txt' }).waitFor()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await storedDrafts(page), 0)
  })
})
