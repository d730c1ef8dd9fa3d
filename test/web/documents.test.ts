import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { makeDocx, wordBody, wordParagraph, zipParts } from '../support/documents/packages.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { buildZip } from '../support/zip-builder.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { makePages } from './viewer-support.ts'

describe('the viewer of documents', () => {
  const suite = webSuite()

  async function start(
    t: TestContext,
    files: Record<string, Uint8Array | string>,
    more: BrowserContextOptions = {},
  ) {
    const space = await Workspace.make(suite.server)
    for (const [path, bytes] of Object.entries(files)) await uploadFile(space.client, space.id, path, bytes)
    const tab = await suite.openTab(t, space.client, more)
    const open = (path: string) => tab?.go(`/view/${space.id}?p=${encodeURIComponent(path)}`)
    return { space, tab, open }
  }

  it('searches a PDF, with a count and highlights', async (t) => {
    const lines = Array.from({ length: 30 }, (_, index) => `Leaf ${index + 1} is a leaf of the book`)
    const { tab, open } = await start(t, { '/book.pdf': makePages(lines) })
    if (tab === undefined) return
    const { page } = tab
    const highlighted = (name: string) => page.evaluate(`[...(CSS.highlights.get('${name}') ?? [])].join()`)
    // Opened by its address, it can be scrolled by keyboard. The ring shows once somebody uses the keyboard.
    const focused = (style: string) =>
      page.evaluate(`[document.activeElement.className, getComputedStyle(document.activeElement).${style}]`)
    await open('/book.pdf')
    await page.getByText('Leaf 1 is a leaf').waitFor()
    await eventually(async () => assert.deepEqual(await focused('outlineStyle'), ['pdf-pages', 'none']))
    await page.keyboard.press('ArrowDown')
    await eventually(async () => assert.deepEqual(await focused('outlineStyle'), ['pdf-pages', 'solid']))
    await page.keyboard.press('Control+f')
    const field = page.getByRole('searchbox', { name: 'Search in document' })
    await field.fill('LEAF')
    await page.getByText('1 of 60', { exact: true }).waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'Leaf'))
    await tab.checkAccess()
    await tab.picture('viewer-pdf-search')
    await page.keyboard.press('Shift+Enter')
    await page.getByText('60 of 60', { exact: true }).waitFor()
    await page.getByText('Leaf 30 is a leaf').waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'leaf'))
    await field.fill('leaf 7 is')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await page.getByText('Leaf 7 is a leaf').waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'Leaf 7 is'))
    await field.fill('no such words')
    await page.getByText('Not found').waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('shows thumbnails of the pages of a PDF, rotates, fits and prints it', async (t) => {
    const lines = Array.from({ length: 12 }, (_, index) => `This is leaf ${index + 1}`)
    const { tab, open } = await start(t, { '/book.pdf': makePages(lines) })
    if (tab === undefined) return
    const { page } = tab
    await open('/book.pdf')
    await page.getByText('This is leaf 1', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Page thumbnails' }).click()
    const thumbnails = page.getByRole('navigation', { name: 'Page thumbnails' })
    await thumbnails.getByRole('button', { name: 'Go to page 3' }).click()
    await thumbnails.locator('[aria-current="page"]').getByText('3', { exact: true }).waitFor()
    await page.getByText('This is leaf 3', { exact: true }).waitFor()
    await tab.checkAccess()
    await tab.picture('viewer-pdf-thumbnails')

    const first = page.getByRole('region', { name: 'Page 3', exact: true })
    const upright = await first.boundingBox()
    assert.ok(upright !== null && upright.height > upright.width)
    await page.getByRole('region', { name: 'Pages of book.pdf' }).focus()
    await page.keyboard.press('r')
    await eventually(async () => {
      const box = await first.boundingBox()
      assert.ok(box !== null && box.width > box.height)
    })
    // The text layer lies within the rotated page, along its right side.
    await eventually(async () => {
      const [sheet, text] = [
        await first.boundingBox(),
        await first.getByText('This is leaf 3', { exact: true }).boundingBox(),
      ]
      assert.ok(sheet !== null && text !== null && text.height > text.width)
      assert.ok(text.x > sheet.x + sheet.width / 2 && text.x + text.width <= sheet.x + sheet.width + 1)
    })
    await tab.picture('viewer-pdf-rotated')
    await page.getByRole('button', { name: 'Fit to page' }).click()
    await page.getByRole('button', { name: 'Fit to width' }).waitFor()

    await page.evaluate(
      `globalThis.print = () => { globalThis.printed = document.querySelectorAll('body > .pdf-print > img').length }`,
    )
    await page.keyboard.press('Control+p')
    await eventually(async () => assert.equal(await page.evaluate('globalThis.printed'), 12))
    await page.emulateMedia({ media: 'print' })
    await page.locator('body > .pdf-print > img').first().waitFor()
    await tab.picture('viewer-pdf-print')
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await page.locator('.pdf-print').waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('lists a zip archive and extracts from it', async (t) => {
    const zip = buildZip([
      { name: 'readme.txt', content: 'read me' },
      { name: 'Photos/2020/beach.txt', content: 'sand and sea' },
      { name: 'Photos/2021/snow.txt', content: 'cold' },
      { name: '../outside.txt', content: 'x' },
    ])
    const { space, tab, open } = await start(t, { '/Bag/pack.zip': zip, '/Bag/broken.zip': 'no archive' })
    if (tab === undefined) return
    const { page } = tab
    await open('/Bag/pack.zip')
    await page.getByText('Unsafe name, not extracted').waitFor()
    await tab.checkAccess()
    await tab.picture('viewer-archive')
    await page.getByRole('button', { name: 'Photos' }).click()
    await page.getByRole('checkbox', { name: 'Select 2021' }).check()
    await page.getByRole('button', { name: 'Extract 1 item' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Extract here' }).click()
    await page.getByText('“pack.zip” extracted').waitFor()
    await eventually(async () => assert.ok((await space.names('/Bag')).includes('2021')))
    assert.deepEqual(await space.names('/Bag/2021'), ['snow.txt'])
    await page.getByRole('button', { name: 'Extract all' }).click()
    await tab.checkAccess()
    await tab.picture('viewer-archive-extract')
    await dialog.getByRole('button', { name: 'Extract here' }).click()
    await eventually(async () =>
      assert.deepEqual((await space.names('/Bag/pack')).toSorted(), ['Photos', 'readme.txt']),
    )
    assert.deepEqual(tab.complaints, [])
    await open('/Bag/broken.zip')
    await page.getByText('This archive cannot be read').waitFor()
  })

  it('shows a workbook as tables', async (t) => {
    const rows = Array.from({ length: 3000 }, (_, index) => [`Name ${index + 1}`, index * 1.5])
    const { tab, open } = await start(t, {
      '/plan.xlsx': makeWorkbook({ People: rows, 'Second sheet': [['Total', 42]] }),
      '/broken.xlsx': 'no workbook',
    })
    if (tab === undefined) return
    const { page } = tab
    await open('/plan.xlsx')
    await page.getByRole('cell', { name: 'Name 1', exact: true }).waitFor()
    await page.getByRole('cell', { name: '1.5', exact: true }).waitFor()
    // Only what is in view is in the page.
    assert.ok((await page.locator('.spreadsheet-table tbody tr').count()) < 100)
    await tab.checkAccess()
    await tab.picture('viewer-spreadsheet')
    await page.getByRole('region', { name: 'Table People' }).focus()
    await page.keyboard.press('End')
    await page.getByRole('cell', { name: 'Name 3000', exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Second sheet' }).click()
    await page.getByRole('cell', { name: '42', exact: true }).waitFor()
    assert.deepEqual(tab.complaints, [])
    await open('/broken.xlsx')
    await page.getByText('The text of this document could not be read.').waitFor()
  })

  it('leaves nothing in a Word document that runs, loads or is not searched', async (t) => {
    const { tab } = await start(t, {})
    if (tab === undefined) return
    const source = await readFile(new URL('../../web/src/viewer/word-elements.ts', import.meta.url), 'utf8')
    const module = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`
    // An empty page, because the policy of the app allows no such module.
    const page = await tab.page.context().newPage()
    const left = (html: string) =>
      page.evaluate(`(async () => {
        const { sanitize } = await import(${JSON.stringify(module)})
        const root = document.implementation.createHTMLDocument('').createElement('div')
        root.innerHTML = ${JSON.stringify(html)}
        sanitize(root)
        return root.innerHTML
      })()`)
    const hostile: [markup: string, left: string][] = [
      // Each removal moves the attributes behind it: those at odd places survived.
      ['<p onclick="a()" onfocus="b()" onblur="c()" onload="d()">x</p>', '<p>x</p>'],
      [
        '<a onclick="a()" href="javascript:b()">x</a>',
        '<a target="_blank" rel="noopener noreferrer nofollow">x</a>',
      ],
      ['<img onerror="a()" src="http://pixel.example.org/"  onload="b()">', '<img>'],
      [
        '<svg><a onclick="a()" xlink:href="javascript:b()"><text>x</text></a></svg>',
        '<svg><a target="_blank" rel="noopener noreferrer nofollow"><text>x</text></a></svg>',
      ],
      [
        '<svg><a href="#p"><set attributeName="href" to="javascript:a()"/></a></svg>',
        '<svg><a href="#p"></a></svg>',
      ],
      ['<template><img src=x onerror="a()"></template><p>x</p>', '<p>x</p>'],
      ['<div><form action="https://evil.example/"><input name="password"></form>x</div>', '<div>x</div>'],
      [
        '<img srcset="http://pixel.example.org/ 2x"><video poster="http://pixel.example.org/"></video>',
        '<img>',
      ],
      ['<p><p><iframe srcdoc="&lt;script>a()&lt;/script>"></iframe></p>x</p>', '<p></p><p></p>x<p></p>'],
    ]
    for (const [markup, expected] of hostile) assert.equal(await left(markup), expected, markup)
    assert.equal(
      await left(
        '<p id="p" class="c" lang="de">x <a href="#p">y</a><img src="data:image/png;base64,AA=="></p>',
      ),
      '<p id="p" class="c" lang="de">x <a href="#p">y</a><img src="data:image/png;base64,AA=="></p>',
    )
  })

  it('renders a Word document, and nothing in it runs or is loaded', async (t) => {
    const { tab, open } = await start(t, { '/letter.docx': makeHostileDocx() })
    if (tab === undefined) return
    const { page } = tab
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await open('/letter.docx')
    // The sandbox of the frame runs no scripts, not even those of the test, so it is inspected from the page.
    const inFrame = (expression: string) =>
      page.evaluate(`(() => {
        const paper = document.querySelector('.viewer-word iframe')?.contentDocument
        return paper && (${expression})
      })()`)
    await eventually(async () =>
      assert.match(
        String(await inFrame('paper.body.innerText')),
        /Dear reader[^]*<script>hacked\(\)<\/script>/,
      ),
    )
    assert.equal(await inFrame(`getComputedStyle(paper.querySelector('p span')).fontWeight`), '700')
    await tab.checkAccess()
    await tab.picture('viewer-word')
    const links = `[...paper.querySelectorAll('a')].map((one) => [one.textContent, one.getAttribute('href')])`
    assert.deepEqual(await inFrame(links), [
      ['good link', 'https://example.org/'],
      ['bad link', null],
    ])
    assert.equal(
      await inFrame(`getComputedStyle(paper.querySelector('a[href]')).textDecorationLine`),
      'underline',
    )
    assert.equal(await inFrame(`paper.querySelectorAll('script, iframe, object, embed, form').length`), 0)
    assert.equal(await page.evaluate('globalThis.hacked'), undefined)
    const outside = asked.filter(
      (url) => !/^(?:data|blob|about):/.test(url) && !url.startsWith(suite.server.url),
    )
    assert.deepEqual(outside, [])
    const handlers = `[...paper.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on'))`
    assert.deepEqual(await inFrame(handlers), [])
    // Nothing in the document could run. The sandbox also refuses the sign-in script that the test adds to every frame.
    const complaints = tab.complaints.filter((one) => !one.startsWith('Blocked script execution'))
    assert.deepEqual(complaints, [])
  })

  it('has the tools of a PDF on a phone', async (t) => {
    const { tab, open } = await start(t, { '/book.pdf': makePages(['One', 'Two']) }, PHONE)
    if (tab === undefined) return
    const { page } = tab
    await open('/book.pdf')
    await page.getByText('One', { exact: true }).waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'Pages and zoom' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('button', { name: 'Search in document' }).click()
    await page.getByRole('searchbox', { name: 'Search in document' }).fill('two')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await fitsWidth(page)
    await tab.checkAccess()
    await tab.picture('viewer-pdf-phone')
    assert.deepEqual(tab.complaints, [])
  })
})

/** A workbook as Excel writes it, with references in every cell. */
function makeWorkbook(sheets: Record<string, readonly (readonly (string | number)[])[]>): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const cell = (value: string | number, ref: string) =>
    typeof value === 'number'
      ? `<c r="${ref}"><v>${value}</v></c>`
      : `<c r="${ref}" t="inlineStr"><is><t>${value}</t></is></c>`
  const names = Object.keys(sheets)
  const parts: Record<string, string> = {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${relations}">${names.map((_, index) => `<Relationship Id="rId${index + 1}" Type="${office}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`).join('')}</Relationships>`,
  }
  for (const [index, rows] of Object.values(sheets).entries()) {
    const xml = rows.map(
      (row, at) =>
        `<row r="${at + 1}">${row.map((value, column) => cell(value, `${'ABC'[column]}${at + 1}`)).join('')}</row>`,
    )
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet xmlns="${main}"><dimension ref="A1:B${rows.length}"/><sheetData>${xml.join('')}</sheetData></worksheet>`
  }
  return zipParts(parts)
}

/** A document with links, one of them a script, an embedded web page and a picture on another server. */
function makeHostileDocx(): Buffer {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const external = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}" TargetMode="External"/>`
  const link = (id: string, text: string) =>
    `<w:p><w:hyperlink xmlns:r="${office}" r:id="${id}"><w:r><w:t>${text}</w:t></w:r></w:hyperlink></w:p>`
  const picture = `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:extent cx="900000" cy="900000"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="${office}" r:link="rId3" r:embed="rId3"/></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
  const body = [
    wordParagraph('Dear reader'),
    wordParagraph('<script>hacked()</script>'),
    link('rId1', 'good link'),
    link('rId2', 'bad link'),
    picture,
    `<w:altChunk xmlns:r="${office}" r:id="rId4"/>`,
  ]
  return makeDocx([], {
    'word/document.xml': wordBody(body.join('')),
    'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${external('rId1', 'hyperlink', 'https://example.org/')}${external('rId2', 'hyperlink', 'javascript:globalThis.hacked=1')}${external('rId3', 'image', 'http://pixel.example.org/track.png')}<Relationship Id="rId4" Type="${office}/aFChunk" Target="chunk.html"/></Relationships>`,
    'word/chunk.html': '<img src=x onerror="parent.hacked=1"><script>parent.hacked=1</script>',
  })
}
