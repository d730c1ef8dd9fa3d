import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { findProgram } from '../bin/system-programs.ts'
import type { Client } from '../test/support/client.ts'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
]

/** A browser of this run; undefined, said once, where there is none. */
export async function launchBrowser(): Promise<Browser | undefined> {
  const executablePath = findProgram('chromium')
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: ARGUMENTS })
  console.log('chromium is not installed: the rows of the web app are left out.')
  return undefined
}

/** How fast a visitor's network and machine are. */
export interface Pace {
  /** Bytes a second, both ways. */
  readonly bytesPerSecond: number
  readonly latencyMs: number
  /** How many times slower than this machine. */
  readonly slowerCpu: number
}

/** A tab, signed in, with nothing in its cache. */
export async function openTab(
  browser: Browser,
  client: Client,
  pace?: Pace,
): Promise<{ page: Page; devtools: CDPSession; close: () => Promise<void> }> {
  const context = await browser.newContext({ locale: 'en', viewport: { width: 1280, height: 800 } })
  const script = `localStorage.setItem('carrel.token', ${JSON.stringify(client.token ?? '')})`
  await context.addInitScript(script)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  if (pace !== undefined) {
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: pace.latencyMs,
      downloadThroughput: pace.bytesPerSecond,
      uploadThroughput: pace.bytesPerSecond,
    })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: pace.slowerCpu })
  }
  return { page, devtools, close: () => context.close() }
}
