import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually, storedBytes } from '../support/transfer.ts'
import { webSuite } from './support.ts'
import { dropFiles, holdLaterChunks, madeBytes } from './upload-support.ts'

const ASSETS = path.join(import.meta.dirname, '../../web/dist/assets')
const MB = 1_000_000

/** A file of a build: its name has a hash of its content. */
const HASHED = /^(?<name>.+-)(?<hash>[\w-]{8})(?<end>\.(?:js|css|woff2))$/

describe('an open page after an upgrade of the server', () => {
  const suite = webSuite()
  /** Names of the files of the earlier build, by those of this one. */
  const earlier = new Map<string, string>()
  before(async () => {
    for (const file of await readdir(ASSETS)) {
      const { name, end } = HASHED.exec(file)?.groups ?? {}
      if (name !== undefined) earlier.set(file, `${name}earlier0${end}`)
    }
  })

  const renamed = (text: string) => {
    let changed = text
    for (const [now, before] of earlier) changed = changed.replaceAll(now, before)
    return changed
  }

  /** Lets the server have the earlier build, with other names of all files, until it is upgraded. */
  async function earlierBuild(page: Page): Promise<{ upgrade(): void }> {
    let isUpgraded = false
    await page.route('**/app/**', async (route) => {
      if (isUpgraded || route.request().resourceType() !== 'document') return route.fallback()
      const response = await route.fetch()
      return route.fulfill({ response, body: renamed(await response.text()) })
    })
    await page.route('**/web/assets/*earlier0*', async (route) => {
      if (isUpgraded) return route.fallback()
      const asked = path.basename(new URL(route.request().url()).pathname)
      const file = [...earlier].find(([, name]) => name === asked)?.[0] ?? ''
      const bytes = await readFile(path.join(ASSETS, file))
      if (asked.endsWith('.woff2')) return route.fulfill({ body: bytes, contentType: 'font/woff2' })
      const contentType = asked.endsWith('.css') ? 'text/css' : 'text/javascript'
      return route.fulfill({ body: renamed(bytes.toString()), contentType })
    })
    return {
      upgrade() {
        isUpgraded = true
      },
    }
  }

  const script = (page: Page) => page.locator('script[src*="/app-"]').getAttribute('src')
  const toPhotos = (page: Page) => page.evaluate(`document.querySelector('a[href$="/photos"]').click()`)

  it('loads itself again when it needs a part that is gone, and shows what was asked for', async (t) => {
    const tab = await suite.openTab(t, await suite.server.signUp())
    if (tab === undefined) return
    const { page } = tab
    const server = await earlierBuild(page)
    await tab.go('/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.match((await script(page)) ?? '', /earlier0/)
    server.upgrade()
    await toPhotos(page)
    await page.getByRole('heading', { level: 1, name: 'Photos' }).waitFor()
    assert.doesNotMatch((await script(page)) ?? '', /earlier0/)
    assert.ok(page.url().endsWith('/app/photos'))
  })

  it('asks first while it uploads, and no file is lost', async (t) => {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Films')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const server = await earlierBuild(page)
    await tab.go(`/library/${library}`)
    const chunks = await holdLaterChunks(page)
    await dropFiles(page, [{ name: 'film.bin', size: 18 * MB }])
    await chunks.untilHeld()
    server.upgrade()
    await toPhotos(page)
    await page.getByRole('button', { name: 'Reload' }).waitFor()
    await page.getByText('Carrel was updated while this page was open').waitFor()
    assert.match((await script(page)) ?? '', /earlier0/, 'it did not reload by itself')
    await tab.picture('upgrade-while-uploading')
    await tab.checkAccess()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: 'Photos' }).waitFor()
    chunks.letGo()
    await eventually(async () => {
      assert.deepEqual(await storedBytes(suite.server, library, '/film.bin'), madeBytes(18 * MB))
    })
  })
})
