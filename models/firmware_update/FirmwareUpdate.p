// Firmware updates over the air. An operator asks a job service for an update; a signer signs the image; each device fetches the image
// block by block, writes it to its flash, verifies it and lets its boot loader try it. A block may arrive damaged and is then
// fetched again, once; an image that does not boot is rolled back. What is checked: no device tries an image that is not whole, and the
// job service records of each device what it runs.

param nDevices: int;
param nBlocks: int;
param verifies: bool;

event eUpdate: (version: int, operator: machine);
event eUpdated: (nUpdated: int, nFailed: int);
event eSign: (version: int, from: machine);
event eSigned: int;
event eJob: (version: int, signature: int);
event eStatus: (device: int, ok: bool);
event eFetch: (version: int, block: int, from: machine);
event eBlock: (block: int, isWhole: bool);
event eWrite: (block: int, isWhole: bool, from: machine);
event eWritten: (block: int, isWhole: bool);
event eTry: (version: int, from: machine);
event eBooted: bool;

// For the monitors.
event eStored: (device: int, block: int, isWhole: bool);
event eTried: int;
event eRuns: (device: int, isNew: bool);

machine Operator {
    start state Asking {
        entry (service: machine) {
            send service, eUpdate, (version = 2, operator = this);
        }
        on eUpdated do (result: (nUpdated: int, nFailed: int)) {
            assert result.nUpdated + result.nFailed == nDevices, "a device is missing";
        }
    }
}

machine JobService {
    var devices: seq[machine];
    var signer: machine;
    var operator: machine;
    var version: int;
    var nUpdated: int;
    var nFailed: int;

    start state Waiting {
        entry (given: (devices: seq[machine], signer: machine)) {
            devices = given.devices;
            signer = given.signer;
        }
        on eUpdate do (job: (version: int, operator: machine)) {
            version = job.version;
            operator = job.operator;
            send signer, eSign, (version = version, from = this);
        }
        on eSigned do (signature: int) {
            var i: int;
            while (i < sizeof(devices)) {
                send devices[i], eJob, (version = version, signature = signature);
                i = i + 1;
            }
            goto Collecting;
        }
    }

    state Collecting {
        on eStatus do (status: (device: int, ok: bool)) {
            if (status.ok) {
                nUpdated = nUpdated + 1;
            } else {
                nFailed = nFailed + 1;
            }
            if (nUpdated + nFailed == sizeof(devices)) {
                send operator, eUpdated, (nUpdated = nUpdated, nFailed = nFailed);
            }
        }
    }
}

machine Signer {
    start state Signing {
        on eSign do (request: (version: int, from: machine)) {
            send request.from, eSigned, 100 + request.version;
        }
    }
}

machine Repository {
    start state Serving {
        on eFetch do (request: (version: int, block: int, from: machine)) {
            send request.from, eBlock, (block = request.block, isWhole = $);
        }
    }
}

machine Flash {
    var device: int;

    start state Writing {
        entry (given: int) { device = given; }
        on eWrite do (order: (block: int, isWhole: bool, from: machine)) {
            announce eStored, (device = device, block = order.block, isWhole = order.isWhole);
            send order.from, eWritten, (block = order.block, isWhole = order.isWhole);
        }
    }
}

machine BootLoader {
    var device: int;

    start state Running {
        entry (given: int) { device = given; }
        on eTry do (order: (version: int, from: machine)) {
            var boots: bool;
            announce eTried, device;
            boots = $;
            announce eRuns, (device = device, isNew = boots);
            send order.from, eBooted, boots;
        }
    }
}

machine Device {
    var me: int;
    var flash: machine;
    var loader: machine;
    var repository: machine;
    var service: machine;
    var version: int;
    var block: int;
    var hasRetried: bool;
    var isDamaged: bool;

    start state Begin {
        entry (given: (me: int, repository: machine)) {
            me = given.me;
            repository = given.repository;
            flash = new Flash(me);
            loader = new BootLoader(me);
        }
        on eService do (given: machine) {
            service = given;
            goto Idle;
        }
        defer eJob;
    }

    state Idle {
        on eJob do (job: (version: int, signature: int)) {
            version = job.version;
            if (job.signature == 100 + version) {
                goto Fetching;
            }
            send service, eStatus, (device = me, ok = false);
        }
    }

    state Fetching {
        entry {
            send repository, eFetch, (version = version, block = block, from = this);
        }
        on eBlock do (got: (block: int, isWhole: bool)) {
            if (got.isWhole || hasRetried) {
                send flash, eWrite, (block = got.block, isWhole = got.isWhole, from = this);
            } else {
                hasRetried = true;
                send repository, eFetch, (version = version, block = block, from = this);
            }
        }
        on eWritten do (done: (block: int, isWhole: bool)) {
            isDamaged = isDamaged || !done.isWhole;
            block = block + 1;
            if (block < nBlocks) {
                goto Fetching;
            }
            goto Verifying;
        }
    }

    state Verifying {
        entry {
            if (verifies && isDamaged) {
                announce eRuns, (device = me, isNew = false);
                send service, eStatus, (device = me, ok = false);
                goto Done;
            }
            send loader, eTry, (version = version, from = this);
        }
        on eBooted do (boots: bool) {
            send service, eStatus, (device = me, ok = boots);
            goto Done;
        }
    }

    state Done { }
}

event eService: machine;

machine Driver {
    start state Begin {
        entry {
            var devices: seq[machine];
            var repository: machine;
            var service: machine;
            var i: int;
            repository = new Repository();
            while (i < nDevices) {
                devices += (i, new Device((me = i, repository = repository)));
                i = i + 1;
            }
            service = new JobService((devices = devices, signer = new Signer()));
            i = 0;
            while (i < nDevices) {
                send devices[i], eService, service;
                i = i + 1;
            }
            new Operator(service);
        }
    }
}

// No image is tried that has a damaged block or lacks one.
spec TriesWholeImages observes eStored, eTried {
    var nStored: map[int, int];
    var isDamaged: set[int];

    start state Watching {
        on eStored do (done: (device: int, block: int, isWhole: bool)) {
            if (!(done.device in nStored)) {
                nStored[done.device] = 0;
            }
            nStored[done.device] = nStored[done.device] + 1;
            if (!done.isWhole) {
                isDamaged += (done.device);
            }
        }
        on eTried do (device: int) {
            assert device in nStored && nStored[device] == nBlocks, "an image that is not complete";
            assert !(device in isDamaged), "an image with a damaged block";
        }
    }
}

// What the job service hears of a device is what the device runs.
spec RecordsWhatRuns observes eRuns, eStatus {
    var runsNew: map[int, bool];

    start state Watching {
        on eRuns do (what: (device: int, isNew: bool)) {
            runsNew[what.device] = what.isNew;
        }
        on eStatus do (status: (device: int, ok: bool)) {
            assert status.device in runsNew, "a status before it is known what runs";
            assert runsNew[status.device] == status.ok, "the record is wrong";
        }
    }
}

module Update = { Operator, JobService, Signer, Repository, Flash, BootLoader, Device, Driver };

// 3 devices: 14 machines.
test param (nDevices in [1, 2, 3], nBlocks in [2], verifies in [true]) tcUpdate [main = Driver]:
    assert TriesWholeImages, RecordsWhatRuns in Update;
test param (nDevices in [3], nBlocks in [2], verifies in [false]) tcUnverified [main = Driver]:
    assert TriesWholeImages, RecordsWhatRuns in Update;
