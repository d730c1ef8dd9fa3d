import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { loadCompiledTexts } from '../../web/texts-compiler/load.ts'
import { Workspace } from '../api/folders-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { furnished, picture } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

/** With digits of its own, `٠` to `٩`. */
const ARABIC = { locale: 'ar-EG' } as const
const WIDE = 1280

describe('the app in a language from right to left', () => {
  const suite = webSuite()

  it('begins at the right, and mirrors the arrow keys of a tree', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client, ARABIC)
    if (tab === undefined) return
    const { page } = tab
    const { shell } = await loadCompiledTexts('ar')
    await tab.go('/')
    await page.locator('html[lang="ar"][dir="rtl"]').waitFor()
    const tree = page.getByRole('tree', { name: shell.libraries })
    const item = (name: string) => tree.getByRole('treeitem', { name, exact: true })
    await item('Plans').waitFor()
    const side = await page.locator('#shell-side').boundingBox()
    assert.ok(side !== null)
    assert.equal(side.x + side.width, WIDE, 'the sidebar is at the right edge')
    const content = await page.locator('#content').boundingBox()
    assert.equal(content?.x, 0)

    const isOpen = () => item('Plans').getAttribute('aria-expanded')
    await item('Plans').focus()
    await page.keyboard.press('ArrowRight')
    assert.equal(await isOpen(), 'false', 'the right arrow goes back')
    await page.keyboard.press('ArrowLeft')
    await item('Photos').waitFor()
    assert.equal(await isOpen(), 'true')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await eventually(async () => assert.ok(await hasFocus(item('Plans')), 'the parent'))
    await page.keyboard.press('ArrowRight')
    assert.equal(await isOpen(), 'false')
    await tab.checkAccess()
    await tab.picture('arabic-libraries')
    assert.deepEqual(tab.complaints, [])
  })

  it('shows each name in its own order, at the edge where names begin', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'مشروع 2026')
    const latin = '2026 plan (a).pdf'
    const arabic = 'تقرير المبيعات.txt'
    const spoofed = '\u202Egpj.exe'
    for (const name of [latin, arabic, spoofed]) await uploadFile(space.client, space.id, `/${name}`, 'text')
    const tab = await suite.openTab(t, space.client, ARABIC)
    if (tab === undefined) return
    const { page } = tab
    const { files } = await loadCompiledTexts('ar')
    await tab.go(`/library/${space.id}`)
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    await link(latin).waitFor()

    const inLatin = await placesOf(link(latin), ['2026', 'plan', '(a)', '.pdf'])
    assert.deepEqual(inLatin, inLatin.toSorted(ascending), 'from left to right')
    const inArabic = await placesOf(link(arabic), ['تقرير', 'المبيعات', '.txt'])
    assert.deepEqual(inArabic, inArabic.toSorted(ascending).toReversed(), 'from right to left')
    const marked = await placesOf(link(spoofed), ['\uFFFD', 'gpj', '.exe'])
    assert.deepEqual(marked, marked.toSorted(ascending), 'the extension is at the end')
    const [one, other] = [await endOf(link(latin)), await endOf(link(arabic))]
    assert.ok(Math.abs(one - other) < 2, `names end at ${one} and ${other}`)

    // In the rows of a phone, and in a text, too.
    await page.setViewportSize(PHONE.viewport)
    await eventually(async () => {
      const ends = [await endOf(link(latin)), await endOf(link(arabic))]
      assert.ok(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0)) < 2, `names end at ${ends.join(' and ')}`)
    })
    await page.setViewportSize({ width: WIDE, height: 800 })

    // In a sentence, too.
    await link(spoofed).click({ button: 'right' })
    await page.getByRole('menuitem', { name: files.moveTo }).click()
    const title = page.getByRole('dialog').getByRole('heading')
    const inTitle = await placesOf(title, ['gpj', '.exe'])
    assert.deepEqual(inTitle, inTitle.toSorted(ascending))
    await tab.picture('arabic-names')
    assert.deepEqual(tab.complaints, [])
  })

  it('fits on a phone and on a wide screen', async (t) => {
    const admin = await suite.server.admin()
    const space = await furnished(suite.server, admin, 'خطط الحديقة')
    await uploadFile(admin, space.id, '/photo.jpg', await picture(40, 120, 190))
    await admin.delete(`/api2/repos/${space.id}/file/`, { query: { p: '/notes.md' } })
    const { common, sharing } = await loadCompiledTexts('ar')
    for (const [window, options] of Object.entries({ phone: PHONE, desktop: {} })) {
      const tab = await suite.openTab(t, admin, { ...options, ...ARABIC })
      if (tab === undefined) return
      const { page } = tab
      const shows = async (address: string, name: string) => {
        await tab.go(address)
        await page.locator('h1, h2, #content p').filter({ visible: true }).first().waitFor()
        await page.locator('.waiting, .skeleton').first().waitFor({ state: 'detached' })
        await fitsWidth(page)
        assert.deepEqual(await cutOff(page), [], name)
        await tab.picture(`arabic/${name}-${window}`)
      }
      for (const [name, address] of pagesOf(space.id)) await shows(address, name)
      await shows('/', 'libraries')
      await page.getByRole('button', { name: `إجراءات \u2068خطط الحديقة\u2069` }).click()
      await page.getByRole('menuitem', { name: common.share, exact: true }).click()
      await page.getByRole('dialog').getByText(sharing.whoHasAccess).first().waitFor()
      assert.deepEqual(await cutOff(page), [], 'the dialog')
      await tab.picture(`arabic/sharing-${window}`)
      assert.deepEqual(tab.complaints, [])
    }
  })
})

const pagesOf = (library: string): [name: string, address: string][] => [
  ['folder', `/library/${library}`],
  ['trash', `/trash/${library}`],
  ['history', `/history/${library}`],
  ['viewer', `/view/${library}?p=/photo.jpg`],
  ['text', `/view/${library}?p=/report 10.txt`],
  ['search', '/search?q=report'],
  ['activity', '/activity'],
  ['links', '/links'],
  ['profile', '/account/profile'],
  ['tokens', '/account/tokens'],
  ['status', '/admin/status'],
  ['users', '/admin/users'],
  ['admin-libraries', '/admin/libraries'],
  ['statistics', '/admin/statistics'],
]

const ascending = (one: number, other: number) => one - other

const hasFocus = (place: Locator) =>
  place.evaluate((one) => (one as unknown as { matches(selector: string): boolean }).matches(':focus'))

/** The part of the document object model that the functions below call in the browser. */
interface Box {
  readonly left: number
  readonly right: number
  readonly width: number
}

interface PageRange {
  setStart(node: unknown, at: number): void
  setEnd(node: unknown, at: number): void
  selectNodeContents(node: unknown): void
  getBoundingClientRect(): Box
  getClientRects(): Iterable<Box>
}

interface PageElement {
  readonly id: string
  readonly outerHTML: string
  readonly scrollWidth: number
  readonly clientWidth: number
  readonly parentElement: PageElement | null
  closest(selector: string): PageElement | null
  checkVisibility(options: object): boolean
  getBoundingClientRect(): Box
}

interface PageWindow {
  readonly document: {
    readonly body: PageElement
    createRange(): PageRange
    createTreeWalker(root: unknown, show: number): { nextNode(): { readonly data: string } | null }
    querySelectorAll(selector: string): Iterable<PageElement>
  }
  getComputedStyle(element: PageElement): { readonly overflowX: string }
  readonly innerWidth: number
}

/** Where pieces of a text are painted: the middle of each, from the left edge of the window. */
function placesOf(place: Locator, pieces: readonly string[]): Promise<number[]> {
  return place.evaluate((element, wanted) => {
    const { document } = globalThis as unknown as PageWindow
    return wanted.map((piece) => {
      const walker = document.createTreeWalker(element, 4)
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const at = node.data.indexOf(piece)
        if (at < 0) continue
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + piece.length)
        const { left, right } = range.getBoundingClientRect()
        return (left + right) / 2
      }
      throw new Error(`There is no ${piece} in ${element.textContent}`)
    })
  }, pieces)
}

/** The right edge of the text of an element. */
function endOf(place: Locator): Promise<number> {
  return place.evaluate((element) => {
    const range = (globalThis as unknown as PageWindow).document.createRange()
    range.selectNodeContents(element)
    return Math.max(...[...range.getClientRects()].map(({ right }) => right))
  })
}

/** Buttons, links, fields and titles that are painted outside of the window, and in nothing that scrolls there. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const view = globalThis as unknown as PageWindow
    const { document, innerWidth } = view
    const scrolls = (one: PageElement | null): boolean =>
      one !== null &&
      one.id !== 'content' &&
      one !== document.body &&
      ((/auto|scroll/.test(view.getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth) ||
        scrolls(one.parentElement))
    return [...document.querySelectorAll('button, a[href], input, select, h1, h2')]
      .filter((one) => {
        // Those are outside until they are needed.
        if (one.closest('.visually-hidden, .skip, #shell-side') !== null) return false
        if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false
        const { left, right, width } = one.getBoundingClientRect()
        return width > 0 && (left < -1 || right > innerWidth + 1) && !scrolls(one.parentElement)
      })
      .map((one) => one.outerHTML.slice(0, 120))
  })
}
