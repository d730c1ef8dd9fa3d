import type { Locator, Page } from 'playwright-core'

/** A file created in the page: `size` bytes of a pattern, or a text. */
export interface MadeFile {
  readonly name: string
  readonly text?: string
  readonly size?: number
  readonly modified?: number
}

/**
 * Drops files on the shown folder or on `onto`, as if they came from the desktop. `leaveAt: 'dragover'` only drags them
 * there.
 */
export async function dropFiles(
  page: Page,
  files: readonly MadeFile[],
  onto: Locator = page.locator('.drop-zone'),
  { leaveAt }: { leaveAt?: 'dragover' } = {},
): Promise<void> {
  await page.locator('.drop-zone').waitFor()
  const transfer = await page.evaluateHandle((wanted) => {
    const { DataTransfer, File } = globalThis as unknown as {
      DataTransfer: new () => { items: { add(file: unknown): void } }
      File: new (parts: unknown[], name: string, options: { lastModified: number }) => unknown
    }
    const made = new DataTransfer()
    for (const { name, text, size = 0, modified = 1_700_000_000_000 } of wanted) {
      const bytes = new Uint8Array(size)
      for (let at = 0; at < size; at += 1) bytes[at] = (at * 7 + (at >> 8) * 13 + (at >> 16)) & 255
      made.items.add(new File([text ?? bytes], name, { lastModified: modified }))
    }
    return made
  }, files)
  for (const type of ['dragenter', 'dragover', ...(leaveAt === undefined ? ['drop'] : [])]) {
    await onto.dispatchEvent(type, { dataTransfer: transfer })
  }
}

/** The bytes that `dropFiles` generates. */
export function madeBytes(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 7 + (at >> 8) * 13 + (at >> 16)) & 255
  return bytes
}

/** Drags files of this machine to the middle of the page; `drop: false` keeps them there. */
export async function dragPaths(page: Page, paths: readonly string[], { drop = true } = {}): Promise<void> {
  await page.locator('.drop-zone').waitFor()
  const session = await page.context().newCDPSession(page)
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 }
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  const at = { x: width / 2, y: height / 2, data }
  await session.send('Input.dispatchDragEvent', { type: 'dragEnter', ...at })
  await session.send('Input.dispatchDragEvent', { type: 'dragOver', ...at })
  if (drop) await session.send('Input.dispatchDragEvent', { type: 'drop', ...at })
  await session.detach()
}

/** Throttles the network of a page, or disconnects it. */
export async function networkOf(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const set = (offline: boolean, uploadThroughput: number) =>
    session.send('Network.emulateNetworkConditions', {
      offline,
      uploadThroughput,
      downloadThroughput: -1,
      latency: 0,
    })
  return {
    /** Bytes per second. */
    slow: (rate: number) => set(false, rate),
    cut: () => set(true, -1),
    restore: () => set(false, -1),
  }
}

/** Passes the first chunk of a file on, and holds later ones back until they are released. */
export async function holdLaterChunks(page: Page) {
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  await page.route('**/upload-api/**', async (route) => {
    const range = route.request().headers()['content-range']
    if (range !== undefined && !range.startsWith('bytes 0-')) {
      held.resolve()
      await letGo.promise
    }
    // The page may be closed by now.
    await route.continue().catch(() => undefined)
  })
  return {
    /** Resolves when a chunk is held back, so that the server has all chunks before it. */
    untilHeld: () => held.promise,
    letGo: () => letGo.resolve(),
  }
}

/** The ranges of the sent chunks. */
export function rangesSent(page: Page): string[] {
  const ranges: string[] = []
  page.on('request', (request) => {
    const range = request.headers()['content-range']
    if (range !== undefined) ranges.push(range)
  })
  return ranges
}

/** How many uploads the list of the tray has; 0 without a tray. */
export async function trayTotal(page: Page): Promise<number> {
  const rows = page.getByRole('region', { name: 'Uploads' }).getByRole('listitem')
  return (await rows.count()) === 0 ? 0 : Number(await rows.first().getAttribute('aria-setsize'))
}
