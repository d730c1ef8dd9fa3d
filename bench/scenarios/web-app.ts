import type { Browser, CDPSession, Page } from 'playwright-core'
import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { launchBrowser, openTab, type Throttling } from '../browser.ts'
import { digits } from '../load/request-template.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'

/** A phone on a slow mobile network, as in page audits. */
const SLOW: Throttling = { bytesPerSecond: 200_000, latencyMs: 150, cpuSlowdown: 4 }
/** A bad mobile connection: 400 kbit/s. */
const BAD_LINE: Throttling = { bytesPerSecond: 50_000, latencyMs: 300, cpuSlowdown: 1 }
const CHANGES_ELSEWHERE = 10
const FILE_BYTES = 4096
const FRAMES = 120
/** Pixels per frame: a finger that flings the list hard, and the bar dragged so fast that no row of a frame is in the next one. */
const FLING_STEP = 300
const DRAG_STEP = 900

/** Waiting times in the web app: the first list, a very large folder, changes beside it, dropped files. */
export const webApp: Scenario = {
  name: 'web-app',
  async run(context) {
    const browser = await launchBrowser()
    if (browser === undefined) return []
    await using workspace = await context.workspace()
    const many = context.size(100_000, 2000)
    const ids = await workspace.prepare(async (builder) => {
      const big = await builder.newLibrary('Big')
      await builder.addFiles(big, at('/big'), many, 'file')
      await builder.catchUp(big)
      const drop = await builder.newLibrary('Drop')
      const dropMany = await builder.newLibrary('Drop many')
      return { big: big.info.id, drop: drop.info.id, dropMany: dropMany.info.id }
    })
    const server = await workspace.serve()
    try {
      return [
        ...(await firstList(context, browser, server)),
        ...(await bigFolder(browser, server, ids.big, many)),
        await changesElsewhere(browser, server, ids.big),
        await droppedFiles(browser, server, ids.drop, context.size(1000, 50)),
        await droppedFiles(browser, server, ids.dropMany, context.size(10_000, 100)),
      ]
    } finally {
      await browser.close()
    }
  },
}

/** From an empty cache until the libraries are shown. */
async function firstList(context: Context, browser: Browser, server: BenchServer): Promise<Row[]> {
  const rounds: { requests: number; bytes: number; slowMs: number; badMs: number; fastMs: number }[] = []
  for (let round = 0; round < context.size(3, 1); round++) {
    const slow = await timedOpening(browser, server, SLOW)
    const bad = await timedOpening(browser, server, BAD_LINE)
    const fast = await timedOpening(browser, server)
    const { requests, bytes } = bad
    rounds.push({ requests, bytes, slowMs: slow.ms, badMs: bad.ms, fastMs: fast.ms })
  }
  const median = (of: keyof (typeof rounds)[number]) =>
    rounds.map((round) => round[of]).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
  return [
    { what: 'requests until the list of libraries', value: median('requests'), unit: 'requests' },
    {
      what: 'sent until the list of libraries',
      value: median('bytes') / 1e6,
      unit: 'MB',
      target: { atMost: 0.2 },
    },
    {
      what: 'open to usable list, slow phone (1.6 Mbit/s, 150 ms, CPU ÷ 4)',
      value: median('slowMs'),
      unit: 'ms',
    },
    {
      what: 'open to usable list, bad line (400 kbit/s, 300 ms)',
      value: median('badMs'),
      unit: 'ms',
      target: { atMost: 4000 },
    },
    {
      what: 'open to usable list, this machine',
      value: median('fastMs'),
      unit: 'ms',
      target: { atMost: 1000 },
    },
  ]
}

async function timedOpening(
  browser: Browser,
  { client }: BenchServer,
  throttling?: Throttling,
): Promise<{ requests: number; bytes: number; ms: number }> {
  const { page, devtools, close } = await openTab(browser, client, throttling)
  const sent = countTransfers(devtools)
  const began = performance.now()
  await page.goto(`${client.url}/app/`)
  await page.getByRole('link', { name: 'Big' }).first().waitFor()
  const ms = performance.now() - began
  const { requests, bytes } = sent
  await close()
  return { requests, bytes, ms }
}

/** Counts what a tab requests from now on, and the bytes that it receives, with header fields. */
function countTransfers(devtools: CDPSession): { requests: number; bytes: number } {
  const sent = { requests: 0, bytes: 0 }
  devtools.on('Network.requestWillBeSent', () => {
    sent.requests += 1
  })
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    sent.bytes += encodedDataLength
  })
  return sent
}

/** What an open folder costs while another folder of its library changes. */
async function changesElsewhere(browser: Browser, { client }: BenchServer, library: string): Promise<Row> {
  const { page, devtools, close } = await openTab(browser, client)
  const isListing = (response: { url(): string }) => response.url().includes('/dir/?p=%2Fbig')
  await page.goto(`${client.url}/app/library/${library}?p=/big`)
  await page
    .getByText(`file-${digits(0)}`)
    .first()
    .waitFor()
  // Resolves once the listing was fetched again. The first change also waits for pending requests of the page.
  const change = async (name: string) => {
    const asked = page.waitForResponse(isListing)
    await client.post(`/api/v2.1/repos/${library}/dir/`, {
      query: { p: `/${name}` },
      form: { operation: 'mkdir' },
    })
    await asked
  }
  await change('elsewhere 0')
  const sent = countTransfers(devtools)
  for (let n = 1; n <= CHANGES_ELSEWHERE; n++) await change(`elsewhere ${n}`)
  const { bytes } = sent
  await close()
  return {
    what: `received for ${CHANGES_ELSEWHERE} changes in another folder`,
    value: bytes / 1e6,
    unit: 'MB',
    target: { atMost: 0.2 },
  }
}

async function bigFolder(
  browser: Browser,
  { client }: BenchServer,
  library: string,
  count: number,
): Promise<Row[]> {
  const { page, devtools, close } = await openTab(browser, client)
  const entries = count.toLocaleString('en-US')
  const began = performance.now()
  await page.goto(`${client.url}/app/library/${library}?p=/big`)
  await page
    .getByText(`file-${digits(0)}`)
    .first()
    .waitFor()
  const firstMs = performance.now() - began
  const flung = await scrolled(page, FLING_STEP)
  const dragged = await scrolled(page, DRAG_STEP)
  const heap = await heapOf(devtools)
  await close()
  return [
    { what: `first rows of a folder of ${entries}`, value: firstMs, unit: 'ms' },
    {
      what: `frames while it scrolls ${FLING_STEP} px per frame, p95`,
      value: flung.p95Ms,
      unit: 'ms',
      p50Ms: flung.p50Ms,
      p99Ms: flung.p99Ms,
      target: { atMost: 20 },
    },
    {
      what: `frames while it scrolls ${DRAG_STEP} px per frame, p95`,
      value: dragged.p95Ms,
      unit: 'ms',
      p50Ms: dragged.p50Ms,
      p99Ms: dragged.p99Ms,
    },
    { what: 'memory of its tab (JavaScript heap)', value: heap / 1e6, unit: 'MB' },
  ]
}

/** Frame times while the list scrolls. */
async function scrolled(page: Page, step: number): Promise<{ p50Ms: number; p95Ms: number; p99Ms: number }> {
  const times = (await page.evaluate(`new Promise((resolve) => {
    const long = [...document.querySelectorAll('*')]
      .filter((one) => one.scrollHeight > one.clientHeight + 1000 && /auto|scroll/.test(getComputedStyle(one).overflowY))
      .sort((a, b) => b.scrollHeight - a.scrollHeight)[0]
    const times = []
    let last = performance.now()
    const frame = (now) => {
      times.push(now - last)
      last = now
      if (times.length > ${FRAMES}) return resolve(times.slice(1))
      long.scrollTop += ${step}
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })`)) as number[]
  const sorted = times.toSorted((a, b) => a - b)
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50Ms: share(0.5), p95Ms: share(0.95), p99Ms: share(0.99) }
}

async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.enable')
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  return usedSize
}

/** Small files dropped at once, until the server lists all of them. */
async function droppedFiles(
  browser: Browser,
  server: BenchServer,
  library: string,
  count: number,
): Promise<Row> {
  const { client } = server
  const { page, close } = await openTab(browser, client)
  await page.goto(`${client.url}/app/library/${library}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    for (let n = 0; n < ${count}; n++) {
      const bytes = crypto.getRandomValues(new Uint8Array(${FILE_BYTES}))
      transfer.items.add(new File([bytes], 'dropped-' + n + '.bin'))
    }
    return transfer
  })()`)
  const { seconds, usage } = await server.meter(async () => {
    const began = performance.now()
    for (const type of ['dragenter', 'dragover', 'drop'])
      await page.dispatchEvent('.drop-zone', type, { dataTransfer: dropped })
    for (;;) {
      const { body } = await client.get(`/api2/repos/${library}/dir/`, { p: '/' })
      if (body.length === count) return { seconds: (performance.now() - began) / 1000 }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  await close()
  return {
    what: `${count.toLocaleString('en-US')} files of 4 KiB dropped at once`,
    value: count / seconds,
    unit: 'files/s',
    target: { atLeast: 800 },
    usage,
  }
}
