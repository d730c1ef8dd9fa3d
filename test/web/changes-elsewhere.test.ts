import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Response } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { uploadFile } from '../support/transfer.ts'
import { PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

const CHANGES = 10

describe('an open folder', () => {
  const suite = webSuite()

  it('is not transferred again when another folder changes, and only its changes when it changes itself', async (t) => {
    const space = await Workspace.make(suite.server)
    for (let n = 0; n < 5; n++) await uploadFile(space.client, space.id, `/open/${n}.txt`, 'text')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const isListing = (response: Response) => response.url().includes('/dir/?p=%2Fopen')
    const listings: Response[] = []
    page.on('response', (response) => {
      if (isListing(response)) listings.push(response)
    })
    const isFollowing = page.waitForResponse(/\/api\/v2\.1\/events\//)
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}?p=/open`)
    await list.link('0.txt').waitFor()
    await isFollowing
    const before = listings.length
    for (let n = 0; n < CHANGES; n++) {
      const asked = page.waitForResponse(isListing)
      await uploadFile(space.client, space.id, `/elsewhere/${n}.txt`, 'text')
      await asked
    }
    const after = listings.slice(before)
    assert.deepEqual(new Set(after.map((response) => response.status())), new Set([304]))
    await uploadFile(space.client, space.id, '/open/new.txt', 'text')
    await list.link('new.txt').waitFor()
    const changes = await listings.findLast((response) => response.status() === 200)?.json()
    assert.deepEqual(
      changes.dirent_list.map(({ name }: { name: string }) => name),
      ['new.txt'],
    )
    await space.client.delete(space.v21('file/'), { query: { p: '/open/0.txt' } })
    await list.link('0.txt').waitFor({ state: 'detached' })
    await list.link('new.txt').waitFor()
    // What the user changes is shown at once. The listing that confirms it has only the change, too.
    const isChanges = page.waitForResponse((response) => isListing(response) && response.status() === 200)
    await list.link('1.txt').waitFor()
    await list.row('1.txt').getByRole('checkbox').click()
    await page.keyboard.press('Delete')
    await list.link('1.txt').waitFor({ state: 'detached' })
    const own = await (await isChanges).json()
    assert.deepEqual([own.removed, own.dirent_list], [['1.txt'], []])
    assert.deepEqual(tab.complaints, [])
  })
})
