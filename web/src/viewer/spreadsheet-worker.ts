import readXlsxFile from 'read-excel-file/universal'
import { type ParsedSheet, sheetOf } from './spreadsheet-cells.ts'

/** Parses a workbook away from the page, which stays responsive and ends the worker if it is left. */
addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
  readXlsxFile(data).then(
    (sheets) => postMessage(sheets.map(({ sheet, data: rows }): ParsedSheet => sheetOf(sheet, rows))),
    () => postMessage(undefined),
  )
})
