import { ChartLine } from 'lucide-react'
import { useState } from 'react'
import { type StatisticName, useStatistic, useSystemInfo } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Empty, LoadError, Waiting } from '../ui/index.ts'
import { LineChart } from './chart.tsx'
import { withCurrentValue } from './current-day.ts'

const spans = [30, 90, 365] as const

/** Totals of the server and charts over time. */
export function StatisticsSection() {
  const texts = useTexts('admin')
  const [days, setDays] = useState<number>(30)
  return (
    <>
      <Numbers />
      <div className="sharing-tools sharing-tools-end">
        <select
          className="input admin-choice"
          aria-label={texts.span}
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          {spans.map((span) => (
            <option key={span} value={span}>
              {texts.lastDays(span)}
            </option>
          ))}
        </select>
      </div>
      <div className="admin-charts">
        <Chart name="storage" days={days} />
        <Chart name="files" days={days} />
        <Chart name="users" days={days} />
      </div>
    </>
  )
}

function Numbers() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const info = useSystemInfo()
  if (info.isPending) return <Waiting />
  if (info.isError) return <LoadError error={info.error} onRetry={() => void info.refetch()} />
  const { data } = info
  const numbers = [
    [texts.numbers.users, formats.number(data.users_count)],
    [texts.numbers.groups, formats.number(data.groups_count)],
    [texts.numbers.libraries, formats.number(data.repos_count)],
    [texts.numbers.files, formats.number(data.total_files_count)],
    [texts.fileSize, formats.size(data.total_storage), texts.fileSizeHint],
    [texts.numbers.devices, formats.number(data.total_devices_count)],
  ] as const
  return (
    <dl className="admin-numbers">
      {numbers.map(([name, value, hint]) => (
        <div key={name} className="card" title={hint}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Chart(props: { name: StatisticName; days: number }) {
  const { name, days } = props
  const texts = useTexts('admin')
  const formats = useFormats()
  const found = useStatistic(name, days)
  const { data: info } = useSystemInfo()
  if (found.isPending) return <Waiting />
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} />
  const current = { storage: info?.total_storage, files: info?.total_files_count, users: undefined }[name]
  const shown = current === undefined ? found.data : withCurrentValue(found.data, current, Date.now())
  if (shown.length === 0) return <Empty icon={ChartLine} title={texts.charts[name]} hint={texts.noDays} />
  return (
    <LineChart
      title={texts.charts[name]}
      columns={{ day: texts.day, value: texts.charts[name] }}
      days={shown}
      format={(value) => (name === 'storage' ? formats.size(value) : formats.number(value))}
      formatDay={(time) => formats.date(time)}
    />
  )
}
