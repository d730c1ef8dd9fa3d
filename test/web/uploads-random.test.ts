import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { seededRandom, testSeed } from '../support/random.ts'
import { rounds } from '../support/tier.ts'
import { eventually, namesIn } from '../support/transfer.ts'
import { type Tab, webSuite } from './support.ts'
import { dropFiles, networkOf, trayTotal } from './upload-support.ts'

const RUNS = Number(process.env['CARREL_TEST_UPLOAD_RUNS'] ?? rounds(2, 5, 300))

describe('uploads under random drops, pauses, reloads and kills', () => {
  const suite = webSuite()
  const seed = testSeed()

  for (let run = 0; run < RUNS; run += 1) {
    it(`store what the tray has counted, once (seed ${seed}, run ${run})`, async (t) => {
      const random = seededRandom(seed * 1_000_003 + run)
      const person = await suite.server.signUp()
      const library = await person.createLibrary('Films')
      const tab = await suite.openTab(t, person)
      if (tab === undefined) return
      const session = new Session(tab, `/library/${library}`, random)
      await session.start()
      for (let step = 0; step < 6; step += 1) await session.step()
      await session.settle()
      const names = await namesIn(person, library)
      const counted = new Set(session.counted)
      assert.deepEqual(
        [...counted].filter((name) => !names.includes(name)),
        [],
        `missing after ${session.log.join(', ')}`,
      )
      // What was not counted when its page ended may be there, but not twice.
      const dropped = new Set(session.dropped)
      assert.deepEqual(
        names.filter((name) => !dropped.has(name)),
        [],
        `unknown after ${session.log.join(', ')}`,
      )
    })
  }
})

/** One person at a browser. */
class Session {
  readonly #tab: Tab
  readonly #address: string
  readonly #random: () => number
  #page: Page
  readonly dropped: string[] = []
  /** Those that the tray showed. */
  counted: readonly string[] = []
  readonly log: string[] = []

  constructor(tab: Tab, address: string, random: () => number) {
    this.#tab = tab
    this.#address = address
    this.#random = random
    this.#page = tab.page
  }

  async start(): Promise<void> {
    await this.#tab.go(this.#address)
    this.#accept(this.#page)
    await this.#drop()
  }

  async step(): Promise<void> {
    const acts = [
      () => this.#drop(),
      () => this.#pause(),
      () => this.#resume(),
      () => this.#reload(),
      () => this.#reload(),
      () => this.#kill(),
      () => this.#interrupt(),
    ]
    await acts[Math.floor(this.#random() * acts.length)]?.()
    // The moment of the next act is random as well.
    await this.#page.waitForTimeout(this.#random() * 400)
  }

  async settle(): Promise<void> {
    this.log.push('settle')
    const tray = this.#page.getByRole('region', { name: 'Uploads' })
    await eventually(async () => {
      if ((await tray.count()) === 0) {
        // Another visit may still have to be taken over.
        assert.equal(await this.#page.evaluate('localStorage.getItem("carrel.uploads")'), null)
        return
      }
      await this.#press('Resume all')
      await this.#press('Try again')
      const title = await tray.getByRole('heading', { level: 2 }).textContent()
      assert.match(title ?? '', /uploaded$/)
      assert.doesNotMatch(title ?? '', /not uploaded/)
    })
  }

  #accept(page: Page): void {
    page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined))
  }

  async #drop(): Promise<void> {
    const first = this.dropped.length
    const names = Array.from({ length: 1 + Math.floor(this.#random() * 500) }, (_, n) => `f${first + n}.bin`)
    this.log.push(`drop ${names.length}`)
    // What is left of earlier pages is counted first.
    await eventually(async () => {
      const isLeft = (await this.#page.evaluate('localStorage.getItem("carrel.uploads")')) !== null
      assert.ok(!isLeft || (await trayTotal(this.#page)) > 0)
    })
    const before = await trayTotal(this.#page)
    this.dropped.push(...names)
    await dropFiles(
      this.#page,
      names.map((name) => ({ name, size: 4096 })),
    )
    if (this.#random() < 0.3) return
    await eventually(async () => {
      const total = await trayTotal(this.#page)
      // The tray counts what was dropped on this page before, too.
      assert.ok(total >= before + names.length, `${total} counted`)
    })
    this.counted = [...this.counted, ...names]
  }

  async #pause(): Promise<void> {
    this.log.push('pause')
    await this.#press('Pause all')
  }

  async #resume(): Promise<void> {
    this.log.push('resume')
    await this.#press('Resume all')
  }

  async #reload(): Promise<void> {
    this.log.push('reload')
    await this.#page.reload()
  }

  /** Ends the process of the page. */
  async #kill(): Promise<void> {
    this.log.push('kill')
    const context = this.#page.context()
    const next = await context.newPage()
    this.#accept(next)
    const devtools = await context.newCDPSession(this.#page)
    const crashed = this.#page.waitForEvent('crash')
    // Never answered.
    void devtools.send('Page.crash').catch(() => undefined)
    await crashed
    await this.#page.close()
    this.#page = next
    await next.goto(this.#tab.page.url())
  }

  async #interrupt(): Promise<void> {
    this.log.push('interrupt')
    const network = await networkOf(this.#page)
    await network.cut()
    await this.#page.waitForTimeout(this.#random() * 300)
    await network.restore()
  }

  /** Presses a button of the tray, if it is there. */
  async #press(name: string): Promise<void> {
    await this.#page.evaluate((wanted) => {
      const { document } = globalThis as unknown as {
        document: { querySelectorAll(of: string): Iterable<{ textContent: string; click(): void }> }
      }
      for (const button of document.querySelectorAll('.tray button')) {
        if (button.textContent === wanted) button.click()
      }
    }, name)
  }
}
