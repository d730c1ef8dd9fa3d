import { HardDrive } from 'lucide-react'
import { type AccountUsage, useAccountUsage } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Named, PagedTable } from './paged-table.tsx'
import { SplitBar } from './split-bar.tsx'

/** Storage of each account by purpose. */
export function Storage() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const usage = useAccountUsage()
  const bytes = (head: string, of: (account: AccountUsage) => number) => ({
    head,
    cell: (account: AccountUsage) => formats.size(of(account)),
    wide: true,
    end: true,
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
          bytes(texts.purposes.current, ({ current }) => current),
          bytes(texts.purposes.trash, ({ trash }) => trash),
          bytes(texts.purposes.history, ({ history }) => history),
          bytes(texts.purposes.deleted, ({ deleted }) => deleted),
          {
            head: texts.total,
            cell: ({ total, deleted }) => <strong>{formats.size(total + deleted)}</strong>,
            end: true,
          },
        ]}
      />
    </>
  )
}
