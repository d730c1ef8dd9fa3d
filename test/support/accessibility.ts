import axe, { type Result } from 'axe-core'
import type { Page } from 'playwright-core'

/** The rules that depend on colors. A page in its other theme differs in nothing else. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * The violations that axe finds in the document of a page at rest, without its frames: what fades in has no contrast yet. axe is injected once per document,
 * and reports violations only: that is most of its time on a page without any.
 */
export async function accessibilityViolations(
  page: Page,
  rules: 'all' | 'colors' = 'all',
): Promise<readonly Result[]> {
  await comeToRest(page)
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source)
  const options = {
    ...(rules === 'colors' && { runOnly: { type: 'rule', values: COLOR_RULES } }),
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
