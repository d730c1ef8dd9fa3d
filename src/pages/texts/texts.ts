import type { HttpRequest } from '../../http/index.ts'
import { de } from './de.ts'
import { en, type PageTexts } from './en.ts'
import { zh } from './zh.ts'

const known: readonly PageTexts[] = [en, de, zh]

/** In the language the visitor's browser likes best of those there are. */
export function textsFor({ headers }: Pick<HttpRequest, 'headers'>): PageTexts {
  const wishes = (headers['accept-language'] ?? '')
    .split(',')
    .map((wish) => {
      const [tag = '', weight] = wish.trim().split(/\s*;\s*q=/)
      return { language: tag.slice(0, 2).toLowerCase(), weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  for (const { language } of wishes) {
    const texts = known.find((one) => one.language === language)
    if (texts !== undefined) return texts
  }
  return en
}
