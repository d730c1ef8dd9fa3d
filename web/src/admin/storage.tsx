import { HardDrive } from 'lucide-react'
import { type AccountUsage, useAccountUsage } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Named, PagedTable } from './paged-table.tsx'
import { purposes, SplitBar, storedTotal } from './split-bar.tsx'

/** Storage of each account by purpose. */
export function Storage() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const usage = useAccountUsage()
  const bytes = (head: string, hint: string, of: (account: AccountUsage) => number) => ({
    head,
    hint,
    cell: (account: AccountUsage) => formats.size(of(account)),
    wide: true,
    end: true,
  })
  /** Libraries are measured every hour. Until then nothing is known of them, which is not 0 bytes. */
  const isMeasured = (account: AccountUsage) => account.uncounted_repos === 0 || storedTotal(account) > 0
  const measured = (head: string, hint: string, of: (account: AccountUsage) => number) => ({
    ...bytes(head, hint, of),
    cell: (account: AccountUsage) =>
      isMeasured(account) ? formats.size(of(account)) : <span title={texts.notMeasured}>–</span>,
  })
  return (
    <>
      <p className="muted">{texts.storageHint}</p>
      <PagedTable
        label={texts.sections.storage}
        query={usage}
        keyOf={({ email }) => email}
        empty={{ icon: HardDrive, title: texts.nothingStored }}
        columns={[
          {
            head: texts.user,
            cell: ({ name, email }) => <Named name={name} title={email} about={<bdi>{email}</bdi>} />,
          },
          { head: texts.split, cell: (account) => <SplitBar bytes={account} />, wide: true },
          bytes(texts.fileSize, texts.fileSizeHint, (account) => account.file_size),
          ...purposes.map((purpose) =>
            measured(texts.purposes[purpose], texts.purposeHints[purpose], (account) => account[purpose]),
          ),
          {
            head: texts.stored,
            hint: texts.storedHint,
            cell: (account) =>
              isMeasured(account) ? (
                <>
                  <strong>{formats.size(storedTotal(account))}</strong>
                  {account.uncounted_repos > 0 && (
                    <span className="muted admin-uncounted">{texts.uncounted(account.uncounted_repos)}</span>
                  )}
                </>
              ) : (
                <span className="muted">{texts.notMeasured}</span>
              ),
            end: true,
          },
        ]}
      />
    </>
  )
}
