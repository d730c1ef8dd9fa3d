import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import { PagedTable } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('a selection of entries', () => {
  const suite = webSuite()

  async function withPhotos(): Promise<Workspace> {
    const space = await Workspace.make(suite.server, undefined, 'Plans')
    for (const name of ['IMG_7.txt', 'IMG_8.txt', 'IMG_9.txt', 'Beach 2.txt']) {
      await uploadFile(space.client, space.id, `/${name}`, `content of ${name}`)
    }
    return space
  }

  const commits = async (space: Workspace) => (await space.client.get(space.v21('history/'))).body.data.length

  it('is renamed: shows the new names and what they collide with first, and is one change that can be undone', async (t) => {
    const space = await withPhotos()
    const before = await commits(space)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const table = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await table.cell('IMG_7.txt').click()
    await table.cell('IMG_9.txt').click({ modifiers: ['Shift'] })
    await page.keyboard.press('F2')
    const dialog = page.getByRole('dialog', { name: 'Rename 3 items' })
    const rename = dialog.getByRole('button', { name: 'Rename' })
    await dialog.getByRole('textbox', { name: 'Pattern' }).fill('Beach ')
    await dialog.getByText('given more than once').first().waitFor()
    assert.ok(await rename.isDisabled())
    await dialog.getByRole('textbox', { name: 'Pattern' }).fill('Beach ')
    await dialog.getByRole('button', { name: 'Number' }).click()
    await dialog.getByText('Beach 2.txt').waitFor()
    await dialog.getByText('exists already').waitFor()
    await dialog.getByText('1 name cannot be given.').waitFor()
    await tab.checkAccess()
    await tab.picture('rename-many-conflict')
    assert.ok(await rename.isDisabled())
    await dialog.getByLabel('First number').fill('9')
    await dialog.getByText('Beach 09.txt').waitFor()
    await dialog.getByText('Beach 11.txt').waitFor()
    await rename.click()
    await page.getByText('3 items renamed').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), [
      'Beach 09.txt',
      'Beach 10.txt',
      'Beach 11.txt',
      'Beach 2.txt',
    ])
    assert.equal(await commits(space), before + 1)
    await page.keyboard.press('Control+z')
    await page.getByText('3 items have their old names again').waitFor()
    await table.shows(['Beach 2.txt', 'IMG_7.txt', 'IMG_8.txt', 'IMG_9.txt'])
    assert.deepEqual(tab.complaints, [])
  })

  it('is renamed by replacing text, on a phone in dark mode and German', async (t) => {
    const space = await withPhotos()
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    await page.getByText('IMG_7.txt').waitFor()
    await page.getByRole('button', { name: 'Weitere Aktionen für diesen Ordner' }).click()
    await page.getByRole('menuitem', { name: 'Alle auswählen' }).click()
    await page.getByRole('toolbar', { name: /4 / }).getByRole('button', { name: 'Mehr' }).click()
    await page.getByRole('menuitem', { name: 'Umbenennen …' }).click()
    const dialog = page.getByRole('dialog', { name: '4 Elemente umbenennen' })
    await dialog.getByLabel('Neue Namen').selectOption('replace')
    await dialog.getByLabel('Gesuchter Text').fill('IMG_')
    await dialog.getByLabel('Ersetzen durch').fill('Scan/')
    await dialog.getByText('3 Namen können nicht vergeben werden.').waitFor()
    await tab.picture('rename-many-phone-dark')
    await tab.checkAccess()
    await fitsWidth(page)
    await dialog.getByLabel('Ersetzen durch').fill('Scan ')
    await dialog.getByRole('button', { name: 'Umbenennen' }).click()
    await page.getByText('3 Elemente umbenannt').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), [
      'Beach 2.txt',
      'Scan 7.txt',
      'Scan 8.txt',
      'Scan 9.txt',
    ])
    assert.deepEqual(tab.complaints, [])
  })

  it('gets share links with the same options, each listed for copying', async (t) => {
    const space = await withPhotos()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const table = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await table.cell('IMG_7.txt').click()
    await table.cell('IMG_8.txt').click({ modifiers: ['Shift'] })
    await page.getByRole('toolbar', { name: /2 / }).getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Create share links' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share links for 2 items' })
    await dialog.getByLabel('Require a password').check()
    await dialog.getByRole('button', { name: 'Create links' }).click()
    await dialog.getByText('2 links created').waitFor()
    await dialog.getByRole('button', { name: 'Copy the link to IMG_8.txt' }).waitFor()
    await tab.checkAccess()
    await tab.picture('link-many')
    const { body } = await space.client.get('/api/v2.1/share-links/')
    assert.deepEqual(
      body.map((link: { path: string; password: string }) => [link.path, link.password !== '']).toSorted(),
      [
        ['/IMG_7.txt', true],
        ['/IMG_8.txt', true],
      ],
    )
    const links = await dialog.getByRole('link').allTextContents()
    assert.deepEqual(links.toSorted(), body.map((link: { link: string }) => link.link).toSorted())
    assert.deepEqual(tab.complaints, [])
  })
})
