import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import type { Client } from '../test/support/client.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import { uploadFile } from '../test/support/transfer.ts'
import { findBrowser } from './system-programs.ts'

// `node bin/pictures.ts`: takes the pictures of the web app that the README shows, of a server with some
// files in it. Needs the built web app and Chromium.

const folder = path.join(import.meta.dirname, '../docs/pictures')

const notes = `# Garden, spring

- [x] order seeds
- [ ] repair the greenhouse door
- [ ] beds along the **south wall**: roses, sage, juniper

| Bed | What | When |
| --- | --- | --- |
| 1 | peas, lettuce | March |
| 2 | potatoes | April |
| 3 | beans | May |

> The frost may come back until the middle of May.
`

/** Hues of the skies. */
const skies = [205, 28, 340, 190, 260, 45, 165, 15]

/** A sky over mountains and a meadow. */
function landscape(hue: number, index: number): string {
  const [left, right] = [110 + (index % 4) * 28, 470 - (index % 3) * 45]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="440">
    <defs>
      <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
        <stop offset="0" stop-color="hsl(${hue}, 45%, 52%)"/><stop offset="1" stop-color="hsl(${hue + 25}, 75%, 86%)"/>
      </linearGradient>
    </defs>
    <rect width="640" height="440" fill="url(#sky)"/>
    <circle cx="${110 + index * 55}" cy="110" r="36" fill="#fff7de" fill-opacity=".9"/>
    <path d="M0 300 L${left} 150 L${left + 110} 280 L${right} 120 L640 290 V440 H0Z" fill="hsl(${150 + index * 8}, 16%, ${46 - (index % 3) * 5}%)"/>
    <path d="M0 340 Q160 270 320 345 T640 320 V440 H0Z" fill="hsl(${95 + index * 6}, 28%, ${34 - (index % 2) * 6}%)"/></svg>`
}

async function main(): Promise<void> {
  const executablePath = findBrowser()
  if (executablePath === undefined) throw new Error('Install Chromium first.')
  await using server = await startServer()
  const ann = await signUp(server, 'ann@example.org', 'Ann Berger')
  const ben = await signUp(server, 'ben@example.org', 'Ben Okafor')
  const library = await fill(ann)
  await ann.put(`/api2/repos/${library}/dir/shared_items/`, {
    query: { p: '/' },
    form: { share_type: 'user', username: ben.email, permission: 'rw' },
  })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    await filesPicture(browser, server, ann, library)
    await notesPicture(browser, server, ann, library)
    await phonePicture(browser, server, ann, library)
  } finally {
    await browser.close()
  }
}

async function signUp(server: TestServer, email: string, name: string): Promise<Client> {
  const client = await server.signUp({ email })
  await client.put('/api2/account/info/', { form: { name } })
  return client
}

async function fill(ann: Client): Promise<string> {
  const library = await ann.createLibrary('House and garden')
  await ann.createLibrary('Letters')
  for (const name of ['Plans', 'Photos', 'Invoices']) {
    await ann.post(`/api2/repos/${library}/dir/`, { query: { p: `/${name}` }, form: { operation: 'mkdir' } })
  }
  const inRoot = ['greenhouse site.jpg', 'south wall at dusk.jpg', 'view from the road.jpg']
  for (const [index, hue] of skies.entries()) {
    const bytes = await sharp(Buffer.from(landscape(hue, index)))
      .jpeg()
      .toBuffer()
    await uploadFile(ann, library, `/Photos/garden ${index + 1}.jpg`, bytes)
    if (index < inRoot.length) await uploadFile(ann, library, `/${inRoot[index]}`, bytes)
  }
  await uploadFile(ann, library, '/spring.md', notes)
  await uploadFile(ann, library, '/budget 2026.xlsx', Buffer.alloc(48_200, 7))
  await uploadFile(ann, library, '/greenhouse offer.pdf', Buffer.alloc(183_000, 9))
  await uploadFile(ann, library, '/measurements.csv', 'bed,length,width\n1,4.2,1.1\n2,3.6,1.1\n')
  await ann.post('/api/v2.1/starred-items/', { form: { repo_id: library, path: '/spring.md' } })
  await ann.put(`/api/v2.1/repos/${library}/file/`, {
    query: { p: '/budget 2026.xlsx' },
    form: { operation: 'lock' },
  })
  return library
}

async function tab(
  browser: Browser,
  client: Client,
  options: Parameters<Browser['newContext']>[0],
): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  await context.addInitScript(`localStorage.setItem('carrel.token', ${JSON.stringify(client.token)})`)
  return context.newPage()
}

/** Waits until all visible images are loaded. The network is never idle, because of live events. */
async function settled(page: Page): Promise<void> {
  // A function and not a string: the content security policy forbids eval.
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { images: Iterable<{ complete: boolean }> } }
    return [...document.images].every((image) => image.complete)
  })
  await page.waitForTimeout(1500)
}

const WIDE = { viewport: { width: 1180, height: 720 } }

async function filesPicture(
  browser: Browser,
  { url }: TestServer,
  ann: Client,
  library: string,
): Promise<void> {
  const page = await tab(browser, ann, WIDE)
  await page.goto(`${url}/app/library/${library}`)
  await page
    .getByText('south wall at dusk.jpg')
    .first()
    .click({ modifiers: ['ControlOrMeta'] })
  await page.getByRole('button', { name: 'Details' }).first().click()
  await settled(page)
  await page.screenshot({ path: path.join(folder, 'web-files.png') })
}

async function notesPicture(
  browser: Browser,
  { url }: TestServer,
  ann: Client,
  library: string,
): Promise<void> {
  const page = await tab(browser, ann, WIDE)
  await page.goto(`${url}/app/view/${library}?p=/spring.md`)
  await page.getByRole('heading', { name: 'Garden, spring' }).waitFor()
  await settled(page)
  await page.screenshot({ path: path.join(folder, 'web-notes.png') })
}

async function phonePicture(
  browser: Browser,
  { url }: TestServer,
  ann: Client,
  library: string,
): Promise<void> {
  const phone = {
    viewport: { width: 390, height: 720 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 2,
  }
  const dark = await tab(browser, ann, { ...phone, colorScheme: 'dark' })
  await dark.goto(`${url}/app/library/${library}?p=/Photos`)
  await dark.getByRole('button', { name: 'Show as grid' }).click()
  await dark.getByText('garden 1.jpg').first().waitFor()
  await settled(dark)
  await dark.screenshot({ path: path.join(folder, 'web-phone.png') })
}

await main()
