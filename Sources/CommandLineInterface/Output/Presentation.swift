import FleetExperiments
import FleetReports

func resultTable(_ results: [VariantResult]) -> String { results.map(\.name).joined(separator: "\n") + "\n" }

func reportHTML(_ results: [VariantResult], title: String, verdict: String) -> String { title + verdict }
