import './spreadsheet.css'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Tabs } from 'radix-ui'
import { useRef, useState } from 'react'
import { fetchBytes, openFile } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, TabList, Waiting } from '../ui/index.ts'
import { DocumentView } from './document-view.tsx'
import type { OpenedFile } from './opened-file.ts'
import { columnName, type ParsedSheet } from './spreadsheet-cells.ts'

const ROW_PX = 32

/** An Excel workbook as tables. If it cannot be parsed, its text is shown. */
export default function SpreadsheetView({ file }: { file: OpenedFile }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['spreadsheet', file.libraryId, file.path, file.id, file.commitId ?? ''],
    queryFn: async ({ signal }) => {
      const { link } = await openFile(file, signal)
      const bytes = await fetchBytes(link, file.size, signal)
      return { sheets: await parse(bytes.buffer, signal) }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  if (data.sheets === undefined || data.sheets.length === 0) return <DocumentView file={file} />
  return <Workbook sheets={data.sheets} name={file.name} />
}

/** Undefined if the file is no workbook. */
function parse(bytes: ArrayBuffer, signal: AbortSignal): Promise<readonly ParsedSheet[] | undefined> {
  const worker = new Worker(new URL('./spreadsheet-worker.ts', import.meta.url), { type: 'module' })
  const { promise, resolve, reject } = Promise.withResolvers<readonly ParsedSheet[] | undefined>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  worker.addEventListener('message', ({ data }: MessageEvent<readonly ParsedSheet[] | undefined>) =>
    resolve(data),
  )
  worker.addEventListener('error', () => resolve(undefined))
  worker.postMessage(bytes, [bytes])
  return promise.finally(() => worker.terminate())
}

function Workbook({ sheets, name }: { sheets: readonly ParsedSheet[]; name: string }) {
  const texts = useTexts('viewer')
  // Sheets are numbered, because names may repeat in a damaged workbook.
  const numbers = sheets.map((_, index) => String(index))
  const labels = Object.fromEntries(sheets.map((one, index) => [String(index), one.name]))
  const [current, setCurrent] = useState('0')
  return (
    <Tabs.Root className="viewer-body spreadsheet" value={current} onValueChange={setCurrent}>
      <TabList label={texts.sheets} names={numbers} labels={labels} current={current} />
      {sheets.map((sheet, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sheets are numbered.
        <Tabs.Content key={index} value={String(index)} className="spreadsheet-sheet" tabIndex={-1}>
          {sheet.isCut && <p className="viewer-note">{texts.tableCut}</p>}
          <SheetTable sheet={sheet} label={texts.tableOf(sheet.name || name)} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}

function SheetTable({ sheet, label }: { sheet: ParsedSheet; label: string }) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: sheet.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const columns = Array.from({ length: sheet.columns }, (_, index) => columnName(index))
  const shown = rows.getVirtualItems()
  const before = shown[0]?.start ?? 0
  const after = rows.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    // A long table must be scrollable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as said above.
    <section ref={scroller} className="spreadsheet-table" aria-label={label} tabIndex={0}>
      <table aria-rowcount={sheet.rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <td />
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden style={{ height: before }} />}
          {shown.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              <th scope="row">{index + 1}</th>
              {columns.map((name, column) => {
                const text = sheet.rows[index]?.[column] ?? ''
                return (
                  <td
                    key={name}
                    dir="auto"
                    title={text}
                    className={isNumber(text) ? 'spreadsheet-number' : ''}
                  >
                    {text}
                  </td>
                )
              })}
            </tr>
          ))}
          {after > 0 && <tr aria-hidden style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  )
}

const isNumber = (text: string) => /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)
