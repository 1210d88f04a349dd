-- fleet.sqlite as commit ee2c05e7 wrote it, the last with steering: six looks at chat, and changes of three endpoints.
CREATE TABLE endpoint (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, body TEXT) STRICT;
CREATE TABLE history (
      endpoint INTEGER, tier INTEGER, at INTEGER, row BLOB NOT NULL, PRIMARY KEY (endpoint, tier, at)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE worker (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE start (
      id INTEGER PRIMARY KEY, endpoint INTEGER NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL,
      seconds REAL NOT NULL, perf REAL
    ) STRICT;
CREATE INDEX start_endpoint ON start (endpoint);
CREATE TABLE known (place INTEGER PRIMARY KEY, id INTEGER NOT NULL, name TEXT, label TEXT NOT NULL) STRICT;
CREATE TABLE steering (label TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE change (label TEXT, id INTEGER, body TEXT NOT NULL, PRIMARY KEY (label, id)) STRICT, WITHOUT ROWID;
INSERT INTO endpoint VALUES (1, 'chat', '{"sinceMs":1700000000000,"lastMs":1700000075000,"open":[[1700000040000,60000,"Az8DsNgHkMgCA8CpB8C4AgOg/grg1AMD4KcSoI0GA6CZAuBdA4D4yQSAqMMBAwcSBgUGAgkeCg=="],[1699999200000,3600000,"Bj8G4LAPkMgCBoDTDsC4AgbA/BXg1AMGwM8koI0GBsCyBOBdBoDwkwmAqMMBAwckBgUMAgk8Cg=="]],"inForce":{"parameters":{"target_util":0.9,"cold_workers":4}}}');
INSERT INTO history VALUES (1, 0, 1700000000000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 0, 1700000015000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 0, 1700000030000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 0, 1700000045000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 0, 1700000060000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 0, 1700000075000, X'013F90C802C0B802E0D403A08D06E05D80A8C3010307060502090A');
INSERT INTO history VALUES (1, 1, 1699999980000, X'033F03B0D80790C80203C0A907C0B80203A0FE0AE0D40303E0A712A08D0603A09902E05D0380F8C90480A8C30103071206050602091E0A');
INSERT INTO worker VALUES (1, '{"id":1,"endpoint":"chat","firstSeenMs":1700000000000,"changes":[["idle",1700000000000]],"perf":12.5,"missed":0}');
INSERT INTO start VALUES (1, 1, 1700000030000, 'cold', 7.0, 12.5);
INSERT INTO known VALUES (1, 31, 'chat', 'chat');
INSERT INTO known VALUES (2, 32, 'draw', 'draw');
INSERT INTO steering VALUES ('chat', '{"baseline":{"target_util":0.9,"cold_workers":4},"endpointId":31,"pause":{"untilMs":1700021690000,"for":"change"},"change":{"id":2,"atMs":1700000090000,"endpointId":31,"why":"cheaper","from":{"target_util":0.9,"cold_workers":5},"to":{"target_util":0.8,"cold_workers":4},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"watching","setMs":1700000090000}}');
INSERT INTO steering VALUES ('draw', '{"baseline":{"target_util":0.9,"cold_workers":4},"endpointId":31,"pause":{"untilMs":1700021690000,"for":"change"},"change":{"id":1,"atMs":1700000090000,"endpointId":32,"why":"cheaper","from":{"min_load":100},"to":{"min_load":80},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"returning","setMs":1700000090000,"because":"load was beyond what ready workers can do","refused":{"sinceMs":1700000090000,"words":"HTTP 403"}}}');
INSERT INTO steering VALUES ('idle', '{"baseline":{"target_util":0.9,"cold_workers":4},"endpointId":31,"pause":{"untilMs":1700021690000,"for":"change"},"change":{"id":1,"atMs":1700000090000,"endpointId":31,"why":"cheaper","from":{"cold_workers":5},"to":{"cold_workers":4},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"over","setMs":1700000090000,"outcome":"rolled_back","endedMs":1700000090000}}');
INSERT INTO change VALUES ('chat', 1, '{"id":1,"atMs":1700000090000,"endpointId":31,"why":"cheaper","from":{"cold_workers":5},"to":{"cold_workers":4},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"over","setMs":1700000090000,"outcome":"kept","endedMs":1700000090000}');
INSERT INTO change VALUES ('chat', 2, '{"id":2,"atMs":1700000090000,"endpointId":31,"why":"cheaper","from":{"target_util":0.9,"cold_workers":5},"to":{"target_util":0.8,"cold_workers":4},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"watching","setMs":1700000090000}');
INSERT INTO change VALUES ('draw', 1, '{"id":1,"atMs":1700000090000,"endpointId":32,"why":"cheaper","from":{"min_load":100},"to":{"min_load":80},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"returning","setMs":1700000090000,"because":"load was beyond what ready workers can do","refused":{"sinceMs":1700000090000,"words":"HTTP 403"}}');
INSERT INTO change VALUES ('idle', 1, '{"id":1,"atMs":1700000090000,"endpointId":31,"why":"cheaper","from":{"cold_workers":5},"to":{"cold_workers":4},"limits":{},"expected":{"costBefore":{"mean":10,"low":10,"high":10},"costAfter":{"mean":8,"low":8,"high":8},"p99Before":{"mean":2,"low":2,"high":2},"p99After":{"mean":3,"low":3,"high":3},"limitSeconds":5,"backtestError":0.04},"phase":"over","setMs":1700000090000,"outcome":"rolled_back","endedMs":1700000090000}');
PRAGMA user_version = 2;
