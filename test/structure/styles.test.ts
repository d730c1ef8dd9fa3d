import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const root = path.join(import.meta.dirname, '../..')

/** Positions on the pages of a PDF file are those of the file, in every language. */
const PHYSICAL = ['web/src/viewer/pdf.css']

/** Sides, except the middle, which is the same in both directions. */
const SIDES =
  /^\s*(?:(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b[\w-]*|border-(?:top|bottom)-(?:left|right)-radius|(?:left|right)(?=: (?!50%)))\s*:|(?:text-align|float|clear): (?:left|right)|\bto (?:left|right)\b(?!;)/

const FOUR = /^\s*(?:margin|padding|inset): (?<values>[^;]+);/

/** The values of a property, with functions in one piece. */
const valuesOf = (text: string): string[] => text.match(/(?:[^\s()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? []

function isPhysical(line: string): boolean {
  if (SIDES.test(line)) return true
  const [, right, , left] = valuesOf(FOUR.exec(line)?.groups?.['values'] ?? '')
  return left !== undefined && left !== right
}

describe('the styles of the web app and of the pages', () => {
  it('name the start and the end of a line, not left and right, so that they hold in both directions', () => {
    const files = globSync(['web/src/**/*.css', 'src/surfaces/pages/assets/*.css'], { cwd: root })
    assert.ok(files.length > 20)
    const found = files
      .filter((file) => !PHYSICAL.includes(file))
      .flatMap((file) =>
        readFileSync(path.join(root, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => (isPhysical(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
      )
    assert.deepEqual(found, [])
  })
})
