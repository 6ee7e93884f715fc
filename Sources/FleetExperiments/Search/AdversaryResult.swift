/// An incident with twice as many seeds as it was chosen by.
package struct ConfirmedIncident: Sendable {
  /// Over all of them.
  package var standing: IncidentStanding
  /// Over those on which no choice was based.
  package var fresh: IncidentStanding

  /// Whether most of the fresh seeds break the limit, and most of all: those that it was chosen by were lucky.
  package var isConfirmed: Bool { fresh.breaks && standing.breaks }
}

/// What an adversary found.
package struct AdversaryResult: Sendable {
  package var study: AdversaryStudy
  /// In how many seeds the fleet holds its load without any incident.
  package var healthySeeds: Int
  /// In how many seeds the limit is broken without the adversary.
  package var brokenWithout: Int
  package var worst: ConfirmedIncident?
  /// The shortest that breaks the limit; nil: none does.
  package var boundary: ConfirmedIncident?
  /// The same, a step shorter; nil: there is none.
  package var below: ConfirmedIncident?
  /// Every incident that was tried, in order.
  package var standings: [IncidentStanding] = []
  package var runs: (made: Int, readBack: Int) = (0, 0)

  init(study: AdversaryStudy, healthySeeds: Int, brokenWithout: Int) {
    self.study = study
    self.healthySeeds = healthySeeds
    self.brokenWithout = brokenWithout
  }

  /// Whether there is anything to find: most fleets hold without incidents, and most keep the limit without the adversary.
  package var isPossible: Bool { healthySeeds * 2 > study.seeds && brokenWithout * 2 <= study.seeds }
}
