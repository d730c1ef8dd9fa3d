import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import type { Client } from '../test/support/client.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import { uploadFile } from '../test/support/transfer.ts'
import { findProgram } from './system-programs.ts'

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

const colours = ['#7a9e87', '#c9a66b', '#8fa3c7', '#b5767a', '#6d8b74', '#d8b4a0', '#5f7c8a', '#a3b18a']

async function main(): Promise<void> {
  const executablePath = findProgram('chromium')
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
  for (const [index, colour] of colours.entries()) {
    const image = sharp({ create: { width: 640, height: 440, channels: 3, background: colour } })
    const shape = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="440"><circle cx="${120 + index * 55}" cy="180" r="90" fill="#fff" fill-opacity=".35"/><path d="M0 440 L${200 + index * 20} 220 L640 440Z" fill="#000" fill-opacity=".18"/></svg>`,
    )
    const bytes = await image
      .composite([{ input: shape }])
      .jpeg()
      .toBuffer()
    await uploadFile(ann, library, `/Photos/garden ${index + 1}.jpg`, bytes)
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
    .getByText('spring.md')
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
