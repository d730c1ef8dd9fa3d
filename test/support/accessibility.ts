import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import axe, { type Result } from 'axe-core'
import type { Page } from 'playwright-core'

/** The rules that depend on colors. A page in its other theme differs in nothing else. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** The minified source of axe: half of 1.5 MB, which two processes forward for each document. */
const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Impact = Result['impact']

const isSerious = (impact: Impact) => impact === 'serious' || impact === 'critical'

/** axe has the impact of a rule, but no public function for it. */
const { rules: allRules } = (axe as unknown as { _audit: { rules: { id: string; impact: Impact }[] } })._audit

/** Rules whose violations are never serious. Among them is `region`, one of those that take longest. */
const MINOR_RULES = allRules.filter(({ impact }) => !isSerious(impact)).map(({ id }) => id)

/** Serious or worse violations in the document of a page at rest. Rules that find no such violations are not run. */
export async function seriousViolations(page: Page, rules?: 'all' | 'colors'): Promise<readonly Result[]> {
  const violations = await findViolations(page, rules, MINOR_RULES)
  return violations.filter(({ impact }) => isSerious(impact))
}

/** All violations in the document of a page at rest. */
export function accessibilityViolations(page: Page): Promise<readonly Result[]> {
  return findViolations(page)
}

/**
 * The violations that axe finds in the document of a page at rest, without its frames: what fades in has no contrast yet. axe is injected once per document,
 * and reports violations only: that is most of its time on a page without any.
 */
async function findViolations(
  page: Page,
  rules: 'all' | 'colors' = 'all',
  excluded: readonly string[] = [],
): Promise<readonly Result[]> {
  await comeToRest(page)
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(await source)
  const options = {
    ...(rules === 'colors' && { runOnly: { type: 'rule', values: COLOR_RULES } }),
    ...(rules === 'all' && { rules: Object.fromEntries(excluded.map((id) => [id, { enabled: false }])) }),
    resultTypes: ['violations'],
    iframes: false,
  }
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`)
}

interface Animated {
  readonly playState: string
  readonly timeline: unknown
  readonly effect: { getTiming(): { iterations: number } }
}

/** Waits until nothing moves that will stop. */
export async function comeToRest(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as {
      document: { timeline: unknown; getAnimations(): Animated[] }
    }
    // An animation by the position of a scroller runs as long as the scroller exists.
    return !document
      .getAnimations()
      .some(
        ({ playState, timeline, effect }) =>
          playState === 'running' && timeline === document.timeline && effect.getTiming().iterations === 1,
      )
  })
}
