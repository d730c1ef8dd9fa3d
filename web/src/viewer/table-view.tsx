import { useMemo } from 'react'
import { useFormats, useTexts } from '../texts/index.ts'
import { parseDelimited } from './delimited.ts'

/** A CSV file as a table. */
export default function TableView({ text, name }: { text: string; name: string }) {
  const texts = useTexts('viewer')
  const formats = useFormats()
  const { head, rows, isCut } = useMemo(() => parseDelimited(text), [text])
  // Rows and cells have no other identity than their number.
  const numbered = <T,>(list: readonly T[]) => list.map((value, index) => ({ value, number: index + 1 }))
  return (
    // A long table must be scrollable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as said above.
    <section className="viewer-table" aria-label={texts.tableOf(name)} tabIndex={0}>
      {isCut && <p className="viewer-note">{texts.tableCut}</p>}
      <table>
        <thead>
          <tr>
            {numbered(head).map(({ value, number }) => (
              <th key={number} scope="col" dir="auto">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbered(rows).map(({ value: row, number }) => (
            <tr key={number}>
              {numbered(row).map(({ value, number: column }) => (
                <td key={column} dir="auto">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && (
        <p className="viewer-note viewer-table-end">
          {texts.tableEnds(rows.length, formats.number(rows.length))}
        </p>
      )}
    </section>
  )
}
