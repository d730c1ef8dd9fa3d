import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import sharp from 'sharp'
import { Workspace } from '../api/folders-support.ts'
import { uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

/** A picture of a sky over a hill, taken on a day at that minute after noon. */
function photo(day: string, hue: number, minute = 0): Promise<Buffer> {
  const hill = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="240">
    <rect width="320" height="240" fill="hsl(${hue}, 60%, 75%)"/>
    <circle cx="${60 + (hue % 200)}" cy="60" r="30" fill="hsl(50, 95%, 80%)"/>
    <path d="M0 190 Q90 90 180 170 T320 140 V240 H0 Z" fill="hsl(${(hue + 90) % 360}, 35%, 35%)"/></svg>`
  return sharp(Buffer.from(hill))
    .jpeg()
    .withExif({
      IFD2: { DateTimeOriginal: `${day.replaceAll('-', ':')} 12:${String(minute).padStart(2, '0')}:00` },
    })
    .toBuffer()
}

describe('the timeline of photos', () => {
  const suite = webSuite()

  /** Two libraries: 24 photos of two days, and one of an earlier year. */
  async function withPhotos(): Promise<{ first: Workspace; second: Workspace }> {
    const first = await Workspace.make(suite.server)
    const second = await Workspace.make(suite.server, first.client, 'Archive')
    for (let number = 1; number <= 24; number++) {
      const day = number <= 9 ? '2024-06-01' : '2024-05-03'
      await uploadFile(first.client, first.id, `/p${number}.jpg`, await photo(day, number * 29, number))
    }
    await uploadFile(first.client, second.id, '/old/first.jpg', await photo('2019-02-03', 10))
    await suite.server.running.services.photos.settled()
    return { first, second }
  }

  it('shows photos by day, jumps by the date rail, and steps across libraries', async (t) => {
    const { first } = await withPhotos()
    const tab = await suite.openTab(t, first.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('link', { name: 'Photos', exact: true }).click()
    await page.getByRole('heading', { name: /^Saturday,? 1 June 2024$/ }).waitFor()
    await page.getByText('25 items').waitFor()
    const tiles = page.locator('.photos-open')
    // The placeholder of each photo is there before its thumbnail, and stays below it.
    await page.locator('.photos-open[style*="background-image"]').first().waitFor()
    await page.locator('.photos-open img').first().waitFor()
    await tab.checkAccess()
    await tab.picture('photos')

    // By keys: to the right, down by one row, and into the viewer.
    await tiles.first().focus()
    await page.keyboard.press('ArrowRight')
    await page.locator('[data-place="1"]:focus').waitFor()
    await page.keyboard.press('End')
    await page.locator('[data-place="24"]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'first.jpg' }).waitFor()
    await page.getByText('25 of 25').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('24 of 25').waitFor()
    await page.getByRole('heading', { name: 'p10.jpg' }).waitFor()
    await tab.picture('photos-lightbox')
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Photos', exact: true }).waitFor()

    await page.getByRole('button', { name: '2019', exact: true }).click()
    await page.getByRole('heading', { name: /^Sunday,? 3 February 2019$/ }).waitFor()

    // Selected photos are deleted from their libraries.
    await page.getByRole('checkbox', { name: 'Select first.jpg' }).check({ force: true })
    await page.getByText('1 selected').first().waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('24 items').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('“first.jpg” restored').waitFor()
    await page.getByText('25 items').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('selects by keys, tags and shares what is selected, and deletes it', async (t) => {
    const { first } = await withPhotos()
    const other = await suite.server.signUp()
    const tab = await suite.openTab(t, first.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/photos')
    const tiles = page.locator('.photos-open')
    await tiles.first().waitFor()
    // Shift and arrows select a range, which shrinks again. A click with Shift adds one.
    await tiles.first().focus()
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) {
      await page.keyboard.press(`Shift+${key}`)
    }
    await page.getByRole('toolbar', { name: '4 selected' }).waitFor()
    await page.keyboard.press('Shift+ArrowLeft')
    const bar = page.getByRole('toolbar', { name: '3 selected' })
    await bar.waitFor()
    await tab.checkAccess()
    await tab.picture('photos-selected')

    await bar.getByRole('button', { name: 'Tags…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'New tag' }).fill('Summer')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await first.client.get(first.v21('repo-tags/'))
    assert.equal(body.repo_tags[0].files_count, 3)

    // The palette has the actions of the selection.
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Commands' })
    await palette.getByRole('group', { name: '3 selected items' }).waitFor()
    await page.keyboard.type('share')
    await palette.getByRole('option', { name: 'Share', exact: true }).click()
    await dialog.getByRole('combobox').first().fill(other.email)
    await dialog.getByRole('option').first().click()
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByText('3 items shared').waitFor()
    const shared = await other.get('/api/v2.1/shared-files/')
    assert.equal(shared.body.shared_with_me.length, 3, shared.text)

    await tiles.nth(0).focus()
    await page.keyboard.press('Delete')
    await page.getByText('22 items', { exact: true }).waitFor()
    await page.keyboard.press('Control+z')
    await page.getByText('25 items', { exact: true }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('plays the photos as a slideshow, stars them, and shows the favourites by themselves', async (t) => {
    const { first } = await withPhotos()
    const tab = await suite.openTab(t, first.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/photos')
    await page.locator('.photos-open').first().waitFor()
    await page.locator('.photos-open').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.locator('[data-place="1"]:focus').waitFor()
    await page.getByRole('button', { name: 'Slideshow' }).focus()
    await page.keyboard.press('Enter')
    const show = page.getByRole('dialog', { name: 'Slideshow' })
    // It starts at the photo that had the focus, and goes on by itself.
    await show.getByText('p8.jpg').waitFor()
    await show.getByText('2 of 25').waitFor()
    await show.getByRole('img', { name: 'p8.jpg' }).waitFor()
    await show.getByText('3 of 25').waitFor()
    await show.getByRole('button', { name: 'Pause' }).press('Enter')
    await show.getByRole('button', { name: 'Play' }).waitFor()
    await page.keyboard.press('s')
    await show.getByRole('button', { name: 'Favourite: p7.jpg', pressed: true }).waitFor()
    await page.keyboard.press('ArrowRight')
    await show.getByText('p6.jpg').waitFor()
    await show.getByRole('img', { name: 'p6.jpg' }).waitFor()
    await tab.checkAccess()
    await tab.picture('photos-slideshow')
    await page.keyboard.press('Escape')
    await show.waitFor({ state: 'detached' })
    await page.locator('[data-place="3"]:focus').waitFor()
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Favourite: p6.jpg', pressed: true }).waitFor()

    await page.getByRole('link', { name: 'Favourites' }).click()
    await page.getByText('2 items', { exact: true }).waitFor()
    await page.getByRole('link', { name: /^p7\.jpg/ }).waitFor()
    await tab.checkAccess()
    await tab.picture('photos-favourites')
    // The viewer steps among the favourites only, and leads back to them.
    await page.locator('[data-place="0"]').press('Enter')
    await page.getByText('1 of 2').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('heading', { name: 'p6.jpg' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('2 items', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'Select p7.jpg' }).check({ force: true })
    await page.getByRole('button', { name: 'Remove from favourites' }).click()
    await page.getByText('1 item', { exact: true }).waitFor()
    const { body } = await first.client.get('/api/v2.1/starred-items/')
    assert.deepEqual(
      body.starred_item_list.map(({ path }: { path: string }) => path),
      ['/p6.jpg'],
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('corrects the dates of many photos, and takes it back', async (t) => {
    const { first } = await withPhotos()
    const tab = await suite.openTab(t, first.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/photos')
    await page.locator('.photos-open').first().focus()
    for (const key of ['ArrowRight', 'ArrowRight']) await page.keyboard.press(`Shift+${key}`)
    const bar = page.getByRole('toolbar', { name: '3 selected' })
    await bar.getByRole('button', { name: 'Change dates…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change the dates of 3 items' })
    await dialog.getByRole('textbox', { name: 'Days' }).fill('2')
    await dialog.getByText('The first one:').waitFor()
    await tab.checkAccess()
    await tab.picture('photos-dates')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: /^Monday,? 3 June 2024$/ }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Dates of 3 items as before').waitFor()
    await page.getByRole('heading', { name: /^Monday,? 3 June 2024$/ }).waitFor({ state: 'detached' })

    // To a day: the first gets the time, the others keep their distance.
    await page.getByRole('toolbar').getByRole('button', { name: 'Change dates…' }).click()
    await dialog.getByLabel('What to do').selectOption('Set the first one, and keep the distances')
    await dialog.getByLabel('Day', { exact: true }).fill('24/12/2023')
    await dialog.getByLabel('Time').fill('23:59')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body } = await first.client.get('/api/v2.1/photos/', { from: '2023-12-24', to: '2023-12-25' })
    assert.deepEqual(
      body.photos.map((one: { path: string; taken: string }) => [one.path, one.taken]),
      [
        ['/p9.jpg', '2023-12-25T00:01:00'],
        ['/p8.jpg', '2023-12-25T00:00:00'],
        ['/p7.jpg', '2023-12-24T23:59:00'],
      ],
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('shows slideshow, favourites and dates on a phone, in German and Chinese', async (t) => {
    const { first } = await withPhotos()
    await first.client.post('/api/v2.1/starred-items/', { form: { repo_id: first.id, path: '/p5.jpg' } })
    for (const [locale, favourites, slideshow] of [
      ['de-DE', 'Favoriten', 'Diashow'],
      ['zh-CN', '收藏', '幻灯片放映'],
    ] as const) {
      const tab = await suite.openTab(t, first.client, { ...PHONE, colorScheme: 'dark', locale })
      if (tab === undefined) return
      await tab.go('/photos')
      await tab.page.getByRole('link', { name: favourites, exact: true }).click()
      await tab.page.getByRole('link', { name: /^p5\.jpg/ }).waitFor()
      await fitsWidth(tab.page)
      await tab.checkAccess()
      await tab.picture(`photos-favourites-phone-${locale}`)
      await tab.page.getByRole('button', { name: slideshow }).click()
      await tab.page.getByRole('img', { name: 'p5.jpg' }).waitFor()
      await tab.checkAccess()
      await tab.picture(`photos-slideshow-phone-${locale}`)
    }
  })

  it('shows placeholders in the grid of a folder', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/hill.jpg', await photo('2024-06-01', 200))
    await suite.server.running.services.photos.settled()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    // The thumbnail never arrives.
    await page.route(/\/thumbnail\//, () => undefined)
    await tab.go(`/library/${space.id}`)
    await page.getByRole('link', { name: 'hill.jpg' }).waitFor()
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await page.locator('img.files-placeholder').waitFor()
    await tab.picture('photos-folder-placeholder')
  })

  it('fits on a phone in dark colors, and says when there is nothing', async (t) => {
    const { first } = await withPhotos()
    const tab = await suite.openTab(t, first.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    await tab.go('/photos')
    await tab.page.getByRole('heading', { name: /^Saturday,? 1 June 2024$/ }).waitFor()
    await tab.page.locator('.photos-open img').first().waitFor()
    await fitsWidth(tab.page)
    await tab.checkAccess()
    await tab.picture('photos-phone-dark')
    await tab.page.getByLabel('Go to month').selectOption('February 2019')
    await tab.page.getByRole('heading', { name: /^Sunday,? 3 February 2019$/ }).waitFor()
    const other = await suite.openTab(t, await suite.server.signUp(), { colorScheme: 'dark' })
    await other?.go('/photos')
    await other?.page.getByRole('heading', { name: 'No photos yet' }).waitFor()
    await other?.checkAccess()
    await other?.picture('photos-empty')
  })
})
