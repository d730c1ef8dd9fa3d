import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { findBrowser, findProgram } from '../bin/system-programs.ts'
import type { Client } from '../test/support/client.ts'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
]

/** Launches the Chromium that people use, or else that of the tests; undefined, with one message, if it is not installed. */
export async function launchBrowser(): Promise<Browser | undefined> {
  const executablePath = findProgram('chromium') ?? findBrowser()
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: ARGUMENTS })
  console.log('chromium is not installed: the rows of the web app are omitted.')
  return undefined
}

/** Simulated network and CPU of a visitor. */
export interface Throttling {
  /** In each direction. */
  readonly bytesPerSecond: number
  readonly latencyMs: number
  /** Factor by which the CPU is slower than this machine. */
  readonly cpuSlowdown: number
}

/** A signed-in tab with an empty cache. */
export async function openTab(
  browser: Browser,
  client: Client,
  throttling?: Throttling,
): Promise<{ page: Page; devtools: CDPSession; close: () => Promise<void> }> {
  const context = await browser.newContext({
    locale: 'en',
    viewport: { width: 1280, height: 800 },
    // What it loads in the background would be counted.
    serviceWorkers: 'block',
  })
  const script = `localStorage.setItem('carrel.token', ${JSON.stringify(client.token ?? '')})`
  await context.addInitScript(script)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  if (throttling !== undefined) {
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: throttling.latencyMs,
      downloadThroughput: throttling.bytesPerSecond,
      uploadThroughput: throttling.bytesPerSecond,
    })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: throttling.cpuSlowdown })
  }
  return { page, devtools, close: () => context.close() }
}
