import axe, { type Result } from 'axe-core'
import type { Page } from 'playwright-core'

/** The rules that depend on colors. A page in its other theme differs in nothing else. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * The violations that axe finds in the document of a page, without its frames. axe is injected once per document,
 * and reports violations only: that is most of its time on a page without any.
 */
export async function accessibilityViolations(
  page: Page,
  rules: 'all' | 'colors' = 'all',
): Promise<readonly Result[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source)
  const options = {
    ...(rules === 'colors' && { runOnly: { type: 'rule', values: COLOR_RULES } }),
    resultTypes: ['violations'],
    iframes: false,
  }
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`)
}
