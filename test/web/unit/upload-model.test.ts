import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { seededRandom, testSeed } from '../../support/random.ts'
import { rounds } from '../../support/tier.ts'
import { type Page, Uploads } from './upload-world.ts'

const SEQUENCES = Number(process.env['CARREL_TEST_UPLOAD_SEQUENCES'] ?? rounds(150, 1500, 15_000))

type Step =
  | { readonly do: 'drop'; readonly page: number; readonly count: number; readonly kind: number }
  | { readonly do: 'wait'; readonly ms: number }
  | {
      readonly do: 'reload' | 'close' | 'open' | 'pause' | 'resume' | 'retry' | 'signOut' | 'signIn'
      readonly page: number
    }
  | { readonly do: 'cut' | 'restore' | 'fill' | 'free' }
  | { readonly do: 'lose'; readonly count: number }
  | { readonly do: 'foreign'; readonly file: number }

const page = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('drop' as const),
      page,
      count: fc.integer({ min: 1, max: 60 }),
      kind: fc.nat(3),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 2500 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'reload',
        'reload',
        'close',
        'open',
        'pause',
        'resume',
        'retry',
        'signOut',
        'signIn',
      ),
      page,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('cut', 'restore', 'restore', 'fill', 'free') }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('lose' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign' as const), file: fc.nat(200) }) },
)

/** Sizes in bytes: copied with the drop, copied later, sent in chunks, never copied. */
const SIZES = [4096, 2_000_000, 20_000_000, 60_000_000]

class Run {
  readonly all: Uploads
  #count = 0

  constructor(seed: number) {
    this.all = new Uploads(seededRandom(seed))
    this.all.open()
  }

  do(step: Step): Promise<void> | undefined {
    const { all } = this
    switch (step.do) {
      case 'drop': {
        const drop = this.#count
        const names = Array.from({ length: step.kind > 1 ? 1 + (step.count % 3) : step.count }, () => {
          this.#count += 1
          return drop % 2 === 0 ? `f${this.#count}.bin` : `d${drop}/f${this.#count}.bin`
        })
        const to = this.#page(step.page)
        if (to !== undefined) all.drop(to, names, SIZES[step.kind] ?? 0)
        return undefined
      }
      case 'wait':
        return all.pass(step.ms)
      case 'cut':
      case 'restore':
        all.isCut = step.do === 'cut'
        return undefined
      case 'fill':
      case 'free':
        all.isFull = step.do === 'fill'
        return undefined
      case 'lose':
        all.lost = step.count
        return undefined
      case 'foreign':
        all.putForeign(`f${step.file}.bin`)
        return undefined
      case 'open':
        if (all.pages.size < 2) all.open()
        return undefined
      default:
        this.#doTo(this.#page(step.page), step.do)
        return undefined
    }
  }

  #page(index: number): Page | undefined {
    return [...this.all.pages][index % Math.max(1, this.all.pages.size)]
  }

  #doTo(
    page: Page | undefined,
    act: 'reload' | 'close' | 'pause' | 'resume' | 'retry' | 'signOut' | 'signIn',
  ) {
    const { engine } = page ?? {}
    if (page === undefined || engine === undefined) return
    if (act === 'pause') engine.pauseAll()
    else if (act === 'resume') engine.resumeAll('paused')
    else if (act === 'retry') engine.resumeAll('failed')
    else if (act === 'signOut') engine.stop()
    else if (act === 'signIn') void engine.restore('ann@example.org')
    else page.kill()
    if (act === 'reload') this.all.open()
  }
}

describe('the uploads of a browser', () => {
  it('lose no file that a tray has counted, and store each once, whatever happens', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.nat(),
      async (steps, seed) => {
        const run = new Run(seed)
        const { all } = run
        await all.pass(100)
        for (const one of steps) await run.do(one)
        const { engine } = await all.settle()
        const { counts } = engine.queue.totals
        assert.equal(counts.waiting + counts.sending + counts.paused + counts.failed + counts.lost, 0)
        const ours = [...all.stored.values()]
          .map(({ content }) => content)
          .filter((content) => content !== '')
        assert.deepEqual(
          ours.filter((content, index) => ours.indexOf(content) !== index),
          [],
          'stored twice',
        )
        const there = new Set(ours)
        assert.deepEqual(
          [...all.counted].filter((name) => !there.has(name)),
          [],
          'not stored',
        )
        // Nothing is left for another visit.
        assert.equal(all.records.size, 0)
        assert.equal(all.sources.size, 0)
      },
    )
    await fc.assert(property, { numRuns: SEQUENCES, seed: testSeed(), endOnFailure: false })
  })
})
