export default function HistoryPage() {
  return <div className="page" />
}
