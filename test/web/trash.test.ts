import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, namesIn, uploadFile } from '../support/transfer.ts'
import { addMany } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('the trash of a library', () => {
  const suite = webSuite()

  async function withDeleted(...paths: string[]): Promise<Workspace> {
    const space = await Workspace.make(suite.server, undefined, 'Attic')
    for (const path of paths) {
      await uploadFile(space.client, space.id, path, `content of ${path}`)
      const [, top = '', rest] = path.split('/')
      const isDir = rest !== undefined
      await space.client.delete(space.v21(isDir ? 'dir/' : 'file/'), { query: { p: `/${top}` } })
    }
    return space
  }

  it('finds and restores deleted items', async (t) => {
    const space = await withDeleted('/lamp.txt', '/chair.txt', '/box/photo.txt', '/carpet.txt')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/trash/${space.id}`)
    await page.getByRole('link', { name: 'lamp.txt' }).waitFor()
    await page.getByText('All versions are kept').waitFor()
    await page.getByRole('checkbox', { name: 'Select lamp.txt' }).check()
    await page.getByRole('checkbox', { name: 'Select box' }).check()
    await page.getByText('2 selected').waitFor()
    // Deletions that followed each other at once are one action.
    await page.getByText('deleted 4 items').waitFor()
    await tab.checkAccess()
    await tab.picture('trash')
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('2 items restored.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['box/', 'lamp.txt'])
    await page.getByRole('link', { name: 'lamp.txt' }).waitFor({ state: 'detached' })

    await page.getByRole('searchbox').fill('carp')
    await page.getByRole('link', { name: 'chair.txt' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Restore carpet.txt' }).click()
    await page.getByText('1 item restored.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['box/', 'carpet.txt', 'lamp.txt'])
    await page.getByText('Nothing found').waitFor()
    await page.getByRole('searchbox').fill('')

    // Items can be viewed in the trash.
    await page.getByRole('link', { name: 'chair.txt' }).click()
    await page.getByText('content of /chair.txt').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('shows 10,000 items as the one deletion that they are, and restores all but one of them', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Attic')
    await addMany(suite.server, space, 10_000, (n) => `${String(n).padStart(5, '0')}.txt`)
    await uploadFile(space.client, space.id, '/kept.txt', 'x')
    const names = (await namesIn(space.client, space.id)).filter((name) => name !== 'kept.txt')
    await space.client.delete('/api/v2.1/repos/batch-delete-item/', {
      json: { repo_id: space.id, parent_dir: '/', dirents: names },
    })
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/trash/${space.id}`)
    await page.getByText('deleted 10,000 files').waitFor()
    await page.getByText('00000.txt, 00001.txt').waitFor()
    await tab.picture('trash-bulk')
    await page.getByRole('button', { name: 'Show 10,000 items' }).click()
    await page.getByRole('link', { name: '00099.txt' }).waitFor()
    await page.getByRole('checkbox', { name: /^Select 10,000 items deleted by/ }).check()
    await page.getByRole('checkbox', { name: 'Select 00007.txt' }).uncheck()
    await page.getByText('9,999 selected').waitFor()
    await tab.checkAccess()
    await tab.picture('trash-bulk-open')
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('9,999 items restored.').waitFor()
    await page.getByText('00007.txt').first().waitFor()
    assert.equal((await namesIn(space.client, space.id)).length, 10_000)
    // The restoration is undone as one.
    await page.keyboard.press('Control+z')
    await page.getByText('9,999 items deleted again.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['kept.txt'])
    assert.deepEqual(tab.complaints, [])
  })

  it('says where an item went whose name is taken, and why one stays', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Attic')
    await uploadFile(space.client, space.id, '/chair', 'a chair')
    await uploadFile(space.client, space.id, '/box/lamp.txt', 'a lamp')
    await space.client.delete(space.v21('file/'), { query: { p: '/box/lamp.txt' } })
    await space.client.delete('/api/v2.1/repos/batch-delete-item/', {
      json: { repo_id: space.id, parent_dir: '/', dirents: ['chair', 'box'] },
    })
    await space.folder('/chair')
    await uploadFile(space.client, space.id, '/box', 'not a folder')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/trash/${space.id}`)
    await page.getByRole('button', { name: 'Restore chair' }).click()
    await page.getByText('chair was restored as chair (1)').waitFor()
    await page.getByRole('button', { name: 'Restore lamp.txt' }).click()
    await page.getByText('/box/lamp.txt was not restored').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['box', 'chair (1)', 'chair/'])
    assert.deepEqual(tab.complaints, [])
  })

  it('is emptied after a confirmation, and reports it', async (t) => {
    const space = await withDeleted('/old.txt')
    await space.client.put(space.v2('history-limit/'), { form: { keep_days: 30 } })
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/trash/${space.id}`)
    await page.getByText('kept for 30 days').waitFor()
    await page.getByRole('button', { name: 'Empty trash' }).click()
    const dialog = page.getByRole('dialog', { name: 'Empty trash' })
    await dialog.getByLabel('What to delete').selectOption('7')
    await tab.checkAccess()
    await tab.picture('trash-emptying')
    await dialog.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('Trash emptied.').waitFor()
    // It was deleted a moment ago, and so was kept.
    await page.getByRole('link', { name: 'old.txt' }).waitFor()
    await page.getByRole('button', { name: 'Empty trash' }).click()
    await dialog.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('The trash is empty').waitFor()
    await tab.checkAccess()
    await tab.picture('trash-empty')
    const { body } = await space.client.get(space.v21('trash2/'))
    assert.equal(body.total_count, 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('shows the deletions of one folder in pages, on a phone in dark mode', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Attic')
    const names = Array.from({ length: 3 }, (_, index) => `${'a name without end '.repeat(8)}${index}.txt`)
    for (const name of names) {
      await uploadFile(space.client, space.id, `/deep/${name}`, 'x')
      await space.client.delete(space.v21('file/'), { query: { p: `/deep/${name}` } })
    }
    await uploadFile(space.client, space.id, '/elsewhere.txt', 'x')
    await space.client.delete(space.v21('file/'), { query: { p: '/elsewhere.txt' } })
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/trash/${space.id}?p=/deep`)
    await page.getByRole('link', { name: names[0] ?? '' }).waitFor()
    assert.equal(await page.getByText('elsewhere.txt').count(), 0)
    await tab.picture('trash-phone-dark')
    await fitsWidth(page)
    await page.getByRole('link', { name: 'Trash of the whole library' }).click()
    await page.getByText('elsewhere.txt').waitFor()
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await eventually(async () => assert.equal((await namesIn(space.client, space.id, '/deep')).length, 3))
    assert.deepEqual(tab.complaints, [])
  })
})
